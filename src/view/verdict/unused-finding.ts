/** The note about agents that registered memory and never transferred. Pure. */
import { momentText } from '../../ground/figures/clock.js';
import { bytesText, listed, plural } from '../../ground/figures/figure.js';
import { type AgentModel, requestsOf } from '../model/agent-model.js';
import { isNamedAnew, placeOfAgent } from './succession.js';
import type { Finding, VerdictInput } from './types.js';

/** An engine warms up for a minute or two after it has registered its memory. */
const UNUSED_MS = 3 * 60_000;

export function unusedFinding({ agents, takenMs }: VerdictInput): Finding[] {
  const moving = agents.filter((agent) => requestsOf(agent) > 0);
  const places = new Set(moving.filter((agent) => !isNamedAnew(agent)).map(placeOfAgent));
  const unused = agents.filter((agent) => {
    if (agent.life === 'dead' || requestsOf(agent) > 0 || !hasMemory(agent)) return false;
    // The passive side of a transfer counts nothing: it is beside an active one, with another name.
    if (moving.length > 0 && !places.has(placeOfAgent(agent))) return false;
    return takenMs - agent.startTimeMs! >= UNUSED_MS;
  });
  if (unused.length === 0) return [];
  const sinceMs = Math.min(...unused.map(({ startTimeMs }) => startTimeMs!));
  const bytes = bytesText(unused.reduce((sum, { memoryBytes }) => sum + memoryBytes!, 0));
  const what = `${bytes} registered and no transfer since ${momentText(sinceMs, takenMs)}`;
  const names = listed(unused.map(({ name }) => name));
  const sentence =
    unused.length === 1 ? `${names} has ${what}` : `${plural(unused.length, 'agent')} have ${what}: ${names}`;
  const advice =
    'Does the engine use its connector? An agent that only serves the transfers of its peers counts none of its own.';
  const ids = unused.map(({ id }) => id);
  return [{ kind: 'unused', tone: 'info', shape: 'ring', word: 'Never used', sentence, advice, agents: ids, sinceMs }];
}

function hasMemory({ memoryBytes = 0, startTimeMs }: AgentModel): boolean {
  return memoryBytes > 0 && startTimeMs !== undefined;
}
