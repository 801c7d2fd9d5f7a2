/** Findings about numbers that are too low or may be wrong. Pure. */
import { momentText, spanText } from '../../ground/figures/clock.js';
import { numberText, plural, times } from '../../ground/figures/figure.js';
import type { AgentModel, Trouble, Troubles } from '../model/agent-model.js';
import type { Finding, VerdictInput } from './types.js';

/** With more agents of one trouble, a single finding names the one with most of it. */
const MAX_SEPARATE = 3;
const MAX_CAPACITY = 2 ** 24;
/** NIXL's default. */
const DEFAULT_FLUSH_MS = 100;

type LossKind = 'full' | 'lost' | 'undrained' | 'lapped' | 'dropped' | 'foreign' | 'shared' | 'unfollowed';

interface LossText {
  /** Returns the text for one agent. `since`: a time of day. */
  readonly one: (count: number, since: string, lost: number, agent: AgentModel) => string;
  readonly many: (count: number, since: string, lost: number) => string;
  readonly advice: (agent: AgentModel) => string;
}

/** Worst first. */
const LOSSES: Readonly<Record<LossKind, LossText>> = {
  full: {
    one: (count, since, lost) =>
      `ring found full ${times(count)} since ${since}${lossText(lost)}, so its numbers are too low`,
    many: (count, since, lost) =>
      `rings found full ${times(count)} since ${since}${lossText(lost)}, so their numbers are too low`,
    advice: largerRing,
  },
  lost: {
    one: (count, since) => `at least ${plural(count, 'event')} lost since ${since}, so its numbers are too low`,
    many: (count, since) => `at least ${plural(count, 'event')} lost since ${since}, so their numbers are too low`,
    advice: largerRing,
  },
  undrained: {
    one: (_, since) => `ring full and not drained since ${since}, so new events are dropped`,
    many: (_, since) => `rings full and not drained since ${since}, so new events are dropped`,
    advice: () => 'Run nixl-otel serve, which drains the rings of the directory.',
  },
  lapped: {
    one: (_, since) => `has written faster than its ring can be observed since ${since}, so its numbers are too low`,
    many: (_, since) =>
      `have written faster than their rings can be observed since ${since}, so their numbers are too low`,
    advice: () => 'Run nixl-otel serve, which misses nothing, and give its address to --url.',
  },
  dropped: {
    one: (count, since) => `reports ${plural(count, 'dropped event')} since ${since}, so its numbers are too low`,
    many: (count, since) => `report ${plural(count, 'dropped event')} since ${since}, so their numbers are too low`,
    advice: largerRing,
  },
  foreign: {
    one: (_, since) => `another reader has taken events out of its ring since ${since}, so its numbers are too low`,
    many: (_, since) =>
      `another reader has taken events out of their rings since ${since}, so their numbers are too low`,
    advice: () => 'End the other reader: nixl-otel doctor names the processes that hold a ring.',
  },
  shared: {
    one: (_, since, _lost, { writers }) => {
      if (writers === undefined) return 'several processes have written its ring, so its sums may be wrong';
      const pids = `${writers.slice(0, -1).join(', ')} and ${writers.at(-1)}`;
      return `processes ${pids} can write its ring, seen since ${since}, so its numbers may be wrong`;
    },
    many: () => 'several processes have written their rings, so their numbers may be wrong',
    advice: () =>
      'Give each process or pod its own directory (NIXL_TELEMETRY_DIR), or each agent its own name; end a reader of another package.',
  },
  unfollowed: {
    one: (count, since) => `${plural(count, 'restart')} since ${since} not followed, so its numbers may be wrong`,
    many: (count, since) => `${plural(count, 'restart')} since ${since} not followed, so their numbers may be wrong`,
    advice: () => 'Give each agent its own name, or each process its own directory.',
  },
};

const LOSS_KINDS = Object.keys(LOSSES) as readonly LossKind[];

export function losesEvents(troubles: Troubles): boolean {
  return LOSS_KINDS.some((kind) => troubles[kind] !== undefined);
}

/** Returns the begin of the agent's earliest loss that is present. */
export function lossSinceMs(troubles: Troubles): number {
  return Math.min(...LOSS_KINDS.map((kind) => troubles[kind]?.sinceMs ?? Infinity));
}

export function lossFindings({ agents, takenMs, collectorLateMs }: VerdictInput): Finding[] {
  const ofRings = LOSS_KINDS.flatMap((kind) => findingsOf(kind, agents, takenMs));
  return collectorLateMs === undefined ? ofRings : [...ofRings, lateCollector(collectorLateMs, takenMs)];
}

function findingsOf(kind: LossKind, agents: readonly AgentModel[], takenMs: number): Finding[] {
  const affected = agents
    .flatMap((agent) => {
      const trouble = agent.troubles?.[kind];
      return trouble === undefined || agent.life === 'dead' || saidBefore(kind, agent) ? [] : [{ agent, trouble }];
    })
    .sort((a, b) => b.trouble.lastMinute - a.trouble.lastMinute);
  const { one, many, advice } = LOSSES[kind];
  if (affected.length <= MAX_SEPARATE) {
    return affected.map(({ agent, trouble: { count, sinceMs } }) => ({
      ...INCOMPLETE,
      sentence: `${agent.name}: ${one(count, momentText(sinceMs, takenMs), lostBy(agent), agent)}`,
      advice: advice(agent),
      agents: [agent.id],
      sinceMs,
      ...sizeOf(kind, count),
    }));
  }
  const sinceMs = Math.min(...affected.map(({ trouble }) => trouble.sinceMs));
  const count = affected.reduce((sum, { trouble }: { trouble: Trouble }) => sum + trouble.count, 0);
  const lost = affected.reduce((sum, { agent }) => sum + lostBy(agent), 0);
  const { agent } = affected[0]!;
  const text = many(count, momentText(sinceMs, takenMs), lost);
  const sentence = `${plural(affected.length, 'agent')}, most of all ${agent.name}: ${text}`;
  return [
    {
      ...INCOMPLETE,
      sentence,
      advice: advice(agent),
      agents: affected.map(({ agent: { id } }) => id),
      sinceMs,
      ...sizeOf(kind, count),
    },
  ];
}

/** The others have no number, or one that says little. */
function sizeOf(kind: LossKind, count: number): Pick<Finding, 'size'> {
  if (kind === 'full') return { size: { value: count, text: `full ${times(count)}` } };
  return kind === 'lost' || kind === 'dropped'
    ? { size: { value: count, text: `${plural(count, 'event')} lost` } }
    : {};
}

const INCOMPLETE = { kind: 'incomplete', tone: 'warn', shape: 'triangle', word: 'Data incomplete' } as const;

/** The sentence about a full ring has what it lost, and the one about reported events would say it twice. */
function saidBefore(kind: LossKind, { troubles: { full, dropped } = {} }: AgentModel): boolean {
  if (kind === 'dropped') return full !== undefined;
  return kind === 'lost' && (full !== undefined || dropped !== undefined);
}

function lostBy({ troubles }: AgentModel): number {
  return troubles?.lost?.count ?? 0;
}

function lossText(lost: number): string {
  return lost === 0 ? '' : `, with at least ${plural(lost, 'event')} lost and probably far more`;
}

/** Four times the slots, or as many as two flushes at the measured rate take. A full ring hides how much more there was. */
function largerRing({ capacity, flushIntervalMs, troubles }: AgentModel): string {
  if (capacity === undefined || capacity >= MAX_CAPACITY) return 'Give serve more CPU time.';
  const rate = troubles?.lost?.perSecond ?? 0;
  const twoFlushes = (2 * rate * (flushIntervalMs ?? DEFAULT_FLUSH_MS)) / 1000;
  let larger = 4 * capacity;
  while (larger < twoFlushes && larger < MAX_CAPACITY) larger *= 2;
  const measured = rate === 0 ? '' : `, at ${numberText(rate)} events/s or more`;
  const now = `now ${numberText(capacity)}${measured}`;
  const size = Math.min(larger, MAX_CAPACITY);
  return `Restart it with NIXL_TELEMETRY_BUFFER_SIZE=${size} (${now}), or give serve more CPU time.`;
}

function lateCollector(lateMs: number, takenMs: number): Finding {
  return {
    ...INCOMPLETE,
    sentence: `the collector thread of serve has had no turn for ${spanText(lateMs)}, so all numbers are old and rings fill`,
    advice: 'Give serve more CPU time.',
    agents: [],
    sinceMs: takenMs - lateMs,
  };
}
