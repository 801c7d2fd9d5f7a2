/** Findings about numbers that are too low or may be wrong. Pure. */
import { counted, countFigure, figureText, spanText } from '../figures/figure.js';
import type { AgentFacts, Finding, Trouble, Troubles, VerdictInput } from './types.js';
import { clock, times } from './words.js';

/** With more agents of one trouble, a single finding names the one with most of it. */
const MAX_SEPARATE = 3;
const MAX_CAPACITY = 2 ** 24;

type LossKind = 'full' | 'undrained' | 'lapped' | 'dropped' | 'foreign' | 'unfollowed';

interface LossText {
  /** Returns the text for one agent. `since`: a time of day. */
  readonly one: (count: number, since: string) => string;
  readonly many: (count: number, since: string) => string;
  readonly advice: (agent: AgentFacts) => string;
}

/** Worst first. */
const LOSSES: Readonly<Record<LossKind, LossText>> = {
  full: {
    one: (count, since) => `ring found full ${times(count)} since ${since}, so its numbers are too low`,
    many: (count, since) => `rings found full ${times(count)} since ${since}, so their numbers are too low`,
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
    one: (count, since) => `reports ${counted(count, 'dropped event')} since ${since}, so its numbers are too low`,
    many: (count, since) => `report ${counted(count, 'dropped event')} since ${since}, so their numbers are too low`,
    advice: largerRing,
  },
  foreign: {
    one: (_, since) => `another reader has taken events out of its ring since ${since}, so its numbers are too low`,
    many: (_, since) =>
      `another reader has taken events out of their rings since ${since}, so their numbers are too low`,
    advice: () => 'End the other reader: nixl-otel doctor names the processes that hold a ring.',
  },
  unfollowed: {
    one: (count, since) => `${counted(count, 'restart')} since ${since} not followed, so its numbers may be wrong`,
    many: (count, since) => `${counted(count, 'restart')} since ${since} not followed, so their numbers may be wrong`,
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

function findingsOf(kind: LossKind, agents: readonly AgentFacts[], takenMs: number): Finding[] {
  const affected = agents
    .flatMap((agent) => {
      const trouble = agent.troubles[kind];
      return trouble === undefined || agent.life === 'dead' ? [] : [{ agent, trouble }];
    })
    .sort((a, b) => b.trouble.lastMinute - a.trouble.lastMinute);
  const { one, many, advice } = LOSSES[kind];
  if (affected.length <= MAX_SEPARATE) {
    return affected.map(({ agent, trouble: { count, sinceMs } }) => ({
      ...INCOMPLETE,
      sentence: `${agent.name}: ${one(count, clock(sinceMs, takenMs))}`,
      advice: advice(agent),
      agents: [agent.id],
      sinceMs,
    }));
  }
  const sinceMs = Math.min(...affected.map(({ trouble }) => trouble.sinceMs));
  const count = affected.reduce((sum, { trouble }: { trouble: Trouble }) => sum + trouble.count, 0);
  const { agent } = affected[0]!;
  return [
    {
      ...INCOMPLETE,
      sentence: `${counted(affected.length, 'agent')}, most of all ${agent.name}: ${many(count, clock(sinceMs, takenMs))}`,
      advice: advice(agent),
      agents: affected.map(({ agent: { id } }) => id),
      sinceMs,
    },
  ];
}

const INCOMPLETE = { kind: 'incomplete', tone: 'warn', shape: 'triangle', word: 'Data incomplete' } as const;

function largerRing({ capacity }: AgentFacts): string {
  if (capacity === undefined || capacity >= MAX_CAPACITY) return 'Give serve more CPU time.';
  const now = figureText(countFigure(capacity));
  const larger = Math.min(4 * capacity, MAX_CAPACITY);
  return `Restart it with NIXL_TELEMETRY_BUFFER_SIZE=${larger} (now ${now}), or give serve more CPU time.`;
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
