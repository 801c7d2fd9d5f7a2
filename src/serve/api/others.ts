/** The entry that sums up the agents that an answer does not list. Pure. */
import { exponentialSum, type ExponentialTally } from '../../ground/exponential.js';
import { isIdle } from '../../view/verdict/idle.js';
import { type AgentsAnswer, OTHERS } from '../../view/answers/answer.js';
import type { ServedAgent, Trouble, Troubles } from '../../view/model/agent-model.js';

export function fold<Agent extends ServedAgent>(
  all: readonly Agent[],
  mostAgents: number,
): Pick<AgentsAnswer<Agent>, 'agents' | 'folded'> {
  if (all.length <= mostAgents) return { agents: all, folded: 0 };
  // Lists the same active agents every time: a rate needs the same agent in two answers.
  const weight = ({ idleMs, flushIntervalMs, life }: Agent): number =>
    life === 'dead' ? 2 : isIdle(idleMs, flushIntervalMs) ? 1 : 0;
  const inOrder = [...all].sort((a, b) => weight(a) - weight(b) || a.id - b.id);
  return {
    agents: [...inOrder.slice(0, mostAgents), others(inOrder.slice(mostAgents))],
    folded: all.length - mostAgents,
  };
}

/** Facts of one agent that have no sum. */
const OF_ONE: readonly (keyof ServedAgent)[] = [
  'pid',
  'writers',
  'wireVersion',
  'endedMs',
  'failedMs',
  'memoryGrowth',
  'quietSinceMs',
  'engine',
  'way',
  'gpus',
  'recentTransferTimeUs',
  'recentPostTimeUs',
  'troubles',
  'flushIntervalMs',
];

/** Returns one entry for several agents. */
function others<Agent extends ServedAgent>(agents: readonly Agent[]): Agent {
  const sum = agents.map(withoutFactsOfOne).reduce(added);
  const troubles = troublesOf(agents);
  return { ...sum, id: OTHERS, agent: '', directory: '', name: `${agents.length} others`, troubles };
}

function withoutFactsOfOne<Agent extends ServedAgent>(agent: Agent): Agent {
  const entries = Object.entries(agent).filter(([key]) => !OF_ONE.includes(key as keyof ServedAgent));
  return Object.fromEntries(entries) as unknown as Agent;
}

/** Adds numbers and counts. Of two flags or two highest values, the higher one counts. */
function added<Agent extends ServedAgent>(a: Agent, b: Agent): Agent {
  const sums = Object.entries(a).map(([key, value]: [string, unknown]) => {
    const other: unknown = b[key as keyof Agent];
    if (value === undefined || other === undefined) return [key, value ?? other];
    if (typeof value === 'number') return [key, value + (other as number)];
    if (typeof value === 'boolean') return [key, value || other];
    if (Array.isArray(value)) return [key, value.map((n: number, i) => n + ((other as number[])[i] ?? 0))];
    if (typeof value === 'object') return [key, plain(exponentialSum([value, other] as ExponentialTally[])!)];
    return [key, value];
  });
  return {
    ...(Object.fromEntries(sums) as Agent),
    life: a.life === b.life ? a.life : 'unknown',
    startTimeMs: a.startTimeMs,
    idleMs: Math.min(a.idleMs!, b.idleMs!),
    fill: Math.max(a.fill, b.fill),
  };
}

function plain({ counts, ...rest }: ExponentialTally) {
  return { ...rest, counts: Array.from(counts) };
}

type AnyTrouble = Trouble & { readonly statuses?: readonly (readonly [status: string, count: number])[] };

function troublesOf(agents: readonly ServedAgent[]): Troubles {
  const sums: Record<string, AnyTrouble> = {};
  for (const { troubles } of agents) {
    for (const [kind, trouble] of Object.entries(troubles) as [keyof Troubles, AnyTrouble][]) {
      const before = sums[kind];
      sums[kind] = before === undefined ? trouble : sumOf(before, trouble);
    }
  }
  return sums;
}

function sumOf(a: AnyTrouble, b: AnyTrouble): AnyTrouble {
  const sum = {
    count: a.count + b.count,
    sinceMs: Math.min(a.sinceMs, b.sinceMs),
    lastMs: Math.max(a.lastMs, b.lastMs),
    lastMinute: a.lastMinute + b.lastMinute,
  };
  if (a.statuses === undefined) return sum;
  const statuses = new Map(a.statuses);
  for (const [status, count] of b.statuses ?? []) statuses.set(status, (statuses.get(status) ?? 0) + count);
  return { ...sum, statuses: [...statuses].sort(([, one], [, other]) => other - one) };
}
