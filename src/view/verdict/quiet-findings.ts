/** The note about agents that went quiet, as far as no end explains it. Pure. */
import { momentText } from '../../ground/figures/clock.js';
import { listed, plural } from '../../ground/figures/figure.js';
import type { AgentModel } from '../model/agent-model.js';
import type { EndedAgent, Finding, VerdictInput } from './types.js';

/** Two samples of each: a transfer under way at the end of a peer may finish, and flushes come later. */
const SAME_TIME_MS = 15_000;

/** Returns the agents that went quiet when this one ended. */
export function quietWith({ id, endedMs }: EndedAgent, agents: readonly AgentModel[]): AgentModel[] {
  return agents.filter(({ id: other, quietSinceMs }) => {
    return other !== id && quietSinceMs !== undefined && Math.abs(quietSinceMs - endedMs) <= SAME_TIME_MS;
  });
}

/** `saidOf`: agents of which another finding says it. */
export function quietFindings({ agents, takenMs }: VerdictInput, saidOf: ReadonlySet<unknown>): Finding[] {
  const quiet = agents.filter(({ id, quietSinceMs }) => quietSinceMs !== undefined && !saidOf.has(id));
  if (quiet.length === 0) return [];
  const sinceMs = Math.min(...quiet.map((agent) => agent.quietSinceMs!));
  const since = momentText(sinceMs, takenMs);
  const live = agents.filter(({ life }) => life === 'alive').length;
  const names = listed(quiet.map(({ name }) => name));
  const sentence =
    quiet.length === 1
      ? `${names} has been quiet since ${since}, after a steady pace; its process lives`
      : `${quiet.length} of ${plural(live, 'live agent')} have been quiet since ${since}, after a steady pace: ${names}`;
  const advice = 'Does the engine still get work? What NIXL waits for is not in the ring: its log may say it.';
  const agents_ = quiet.map(({ id }) => id);
  return [{ kind: 'quiet', tone: 'info', shape: 'circle', word: 'Quiet', sentence, advice, agents: agents_, sinceMs }];
}
