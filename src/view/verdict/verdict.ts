/**
 * The verdict: states of agents and findings from one set of figures, in the same words for the live page and the terminal. Pure;
 * the live page loads this module, too.
 */
import { momentText, spanText } from '../../ground/figures/clock.js';
import { plural } from '../../ground/figures/figure.js';
import { type AgentId, type AgentModel, type AgentState, errorsOf, requestsOf } from '../model/agent-model.js';
import { lifeFindings } from './ended-findings.js';
import { failingFinding } from './failing-finding.js';
import { noAgentsFinding, receiverFindings, staleFinding, stateFindings } from './findings.js';
import { isSlowAlarm } from '../slowness/slow-facts.js';
import { isIdle } from './idle.js';
import { calledByLabels } from './labelled.js';
import { lossFindings, losesEvents, lossSinceMs } from './loss-findings.js';
import { slowOrAnnounced, withAnnounced } from './maintenance.js';
import { memoryFindings } from './memory-findings.js';
import { problemFindings } from './problem-findings.js';
import { pastTroubleText } from './past-trouble.js';
import { levelOf, STATES } from './shapes.js';
import { PRESENT_MS } from './trouble-watch.js';
import { unusedFinding } from './unused-finding.js';
import { wayFindings } from './way-findings.js';
import type { Finding, StateOfAgent, Verdict, VerdictInput } from './types.js';

/** In the order of their weight. */
const FINDERS: readonly ((input: VerdictInput) => readonly Finding[])[] = [
  staleFinding,
  noAgentsFinding,
  lossFindings,
  failingFinding,
  slowOrAnnounced,
  receiverFindings,
  lifeFindings,
  unusedFinding,
  memoryFindings,
  wayFindings,
  problemFindings,
  stateFindings,
];

export function verdictOf(given: VerdictInput): Verdict {
  const input = calledByLabels(withAnnounced(given));
  const slowSince = slowSinceOf(input);
  const states = new Map(
    input.agents.map((agent) => [agent.id, stateOf(agent, input.takenMs, slowSince.get(agent.id))]),
  );
  const counts: Record<AgentState, number> = {
    incomplete: 0,
    failing: 0,
    slow: 0,
    ended: 0,
    unknown: 0,
    live: 0,
    idle: 0,
  };
  for (const { state } of states.values()) counts[state]++;
  const findings = inOrder(FINDERS.flatMap((find) => find(input))).map(namedIn(given));
  return { first: firstOf(findings) ?? nothingFound(input, counts), findings, states, counts };
}

/** Returns alarms before notes. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => weightOf(a) - weightOf(b));
}

/** Returns what stands in place of the word that all is well. */
export function firstOf(findings: readonly Finding[]): Finding | undefined {
  return inOrder(findings).find((finding) => weightOf(finding) < NOTE_WEIGHT);
}

const NOTE_WEIGHT = 2;

function weightOf(finding: Finding): number {
  if (levelOf(finding) === 'alarm' || finding.kind === 'none') return 0;
  return finding.kind === 'uneven' ? 1 : NOTE_WEIGHT;
}

/** Returns a function that adds the names of a finding's agents. */
function namedIn({ agents, ended = [] }: VerdictInput): (finding: Finding) => Finding {
  let names: ReadonlyMap<AgentId, string> | undefined;
  return (finding) => {
    if (finding.agents.length === 0) return finding;
    names ??= new Map([...ended, ...agents].map(({ id, name }) => [id, name]));
    return { ...finding, names: finding.agents.map((id) => names!.get(id) ?? String(id)) };
  };
}

/** Returns when slow agents became so. */
function slowSinceOf({ slowness = [] }: VerdictInput): ReadonlyMap<AgentId, number> {
  const since = new Map<AgentId, number>();
  for (const fact of slowness) {
    if (isSlowAlarm(fact)) since.set(fact.id, Math.min(fact.sinceMs, since.get(fact.id) ?? Infinity));
  }
  return since;
}

/** An agent in several states has the first one that holds, as the verdict. */
export function stateOf(agent: AgentModel, takenMs: number, slowSinceMs?: number): StateOfAgent {
  const { life, endedMs, idleMs, flushIntervalMs, troubles = {} } = agent;
  if (life === 'dead') return { state: 'ended', ...(endedMs === undefined ? {} : { sinceMs: endedMs }) };
  if (losesEvents(troubles)) return { state: 'incomplete', sinceMs: lossSinceMs(troubles) };
  if (troubles.errors !== undefined) return { state: 'failing', sinceMs: troubles.errors.sinceMs };
  if (slowSinceMs !== undefined) return { state: 'slow', sinceMs: slowSinceMs };
  if (life === 'unknown') return { state: 'unknown' };
  if (isIdle(idleMs, flushIntervalMs)) return { state: 'idle', sinceMs: takenMs - idleMs! };
  return { state: 'live' };
}

/** What failed in the figures that are kept. */
function earlierFailures(agents: readonly AgentModel[], takenMs: number): string {
  const failed = agents.filter((agent) => errorsOf(agent) > 0);
  if (failed.length === 0) return '';
  const errors = failed.reduce((sum, agent) => sum + errorsOf(agent), 0);
  const lastMs = Math.max(...failed.map(({ failedMs = -Infinity }) => failedMs));
  const last = Number.isFinite(lastMs) ? `, the last at ${momentText(lastMs, takenMs)}` : '';
  const done = agents.reduce((sum, agent) => sum + requestsOf(agent), 0);
  return `; ${plural(errors, 'failure')} before${last}${done === 0 ? ', and no transfer was ever finished' : ''}`;
}

/** A slow agent without a past looks like any other. */
function unjudgedText(unjudged: number): string {
  return unjudged === 0 ? '' : `; no reference yet for the speed of ${plural(unjudged, 'agent')}`;
}

function nothingFound(
  { agents, takenMs, observedSinceMs, lastTrouble, unjudged = 0 }: VerdictInput,
  counts: Verdict['counts'],
): Finding {
  const states = (Object.keys(STATES) as AgentState[]).filter((state) => counts[state] > 0);
  const each = [...states].sort((a, b) => counts[b] - counts[a]).map((state) => `${counts[state]} ${state}`);
  const fleet = `${plural(agents.length, 'agent')}: ${each.join(', ')}`;
  if (takenMs <= observedSinceMs) {
    const sentence = `${fleet}. Rates and failures follow with the next sample`;
    return { kind: 'measuring', tone: 'info', shape: 'ring', word: 'Measuring', sentence, agents: [] };
  }
  const observedMs = Math.min(PRESENT_MS, takenMs - observedSinceMs);
  const time = observedMs >= PRESENT_MS ? 'the last minute' : spanText(Math.max(1000, observedMs));
  const before = `${earlierFailures(agents, takenMs)}${pastTroubleText(lastTrouble, takenMs)}`;
  return {
    kind: 'well',
    tone: 'ok',
    shape: 'tick',
    word: 'All well',
    sentence: `${fleet}. Nothing lost, and NIXL reported no failure in ${time}${before}${unjudgedText(unjudged)}`,
    agents: [],
  };
}
