/** Usual times that differ a hundredfold: those of an agent's two directions, or of the ranks of one instance. Pure. */
import { UNBOUNDED } from './place-counts.js';
import type { SlowClass, SlowFact } from './slow-facts.js';
import type { Usual } from './usual-times.js';

/** Healthy directions and ranks differ less: reads wait for an answer, and one peer may be nearer. */
const FACTOR = 100;
/** A difference has ended below this one: usual times move a little with each block. */
const END_FACTOR = 50;
/** The usual time of fewer transfers may be that of the first ones, or chance. */
const LEAST_TRANSFERS = 60;
/** Shorter times come from the program and the clock as much as from the transfer. */
const LEAST_US = 1000;

const DIRECTIONS = ['transmit', 'receive'] as const;
type Direction = (typeof DIRECTIONS)[number];

export interface UsualOfAgent {
  readonly id: number;
  readonly name: string;
  /** Path of its ring. */
  readonly place: string;
  /** Instance of an engine; absent if it is not known. */
  readonly instance?: number | undefined;
  readonly transmit: Usual;
  readonly receive: Usual;
}

interface Difference {
  readonly factor: number;
  readonly classes: readonly SlowClass[];
}

type Uneven = Difference & Pick<SlowFact, 'direction' | 'against'>;

export class UnevenWatch {
  /** Time at which a difference was found, by the path of the ring. */
  #since = new Map<string, number>();

  /** Returns undefined while there is no difference, and 0 if it was accepted. */
  sinceOf(place: string): number | undefined {
    return this.#since.get(place);
  }

  restore(place: string, sinceMs: number): void {
    if (!this.#since.has(place)) this.#since.set(place, sinceMs);
  }

  accept(place: string): void {
    if (this.#since.has(place)) this.#since.set(place, 0);
  }

  /** Returns the differences that are younger than `acceptMs`. Agents that are missing are forgotten. */
  take(takenMs: number, acceptMs: number, agents: readonly UsualOfAgent[]): SlowFact[] {
    const before = this.#since;
    this.#since = new Map();
    const fastest = fastestRanks(agents);
    return agents.flatMap((agent) => {
      const { id, name, place } = agent;
      const known = before.get(place);
      const least = known === undefined ? FACTOR : END_FACTOR;
      const found = DIRECTIONS.flatMap((direction) => unevenOf(agent, direction, fastest, least) ?? []);
      if (found.length === 0) {
        // A restored one stands until both directions are known again.
        if (known !== undefined && isUnknown(agent)) this.#since.set(place, known);
        return [];
      }
      const sinceMs = known ?? takenMs;
      this.#since.set(place, sinceMs);
      if (takenMs - sinceMs >= acceptMs) return [];
      return found.map((one): SlowFact => ({ kind: 'uneven', id, name, sinceMs, saidMs: sinceMs, ...one }));
    });
  }
}

function isUnknown({ transmit, receive }: UsualOfAgent): boolean {
  return transmit.classes.length === 0 && receive.classes.length === 0;
}

/** Returns the greater difference of a direction from the agent's other one, and from the fastest rank of its instance. */
function unevenOf(
  agent: UsualOfAgent,
  direction: Direction,
  fastest: ReadonlyMap<string, UsualOfAgent>,
  least: number,
): Uneven | undefined {
  const other = direction === 'transmit' ? 'receive' : 'transmit';
  const byDirection = differenceOf(agent[direction], agent[other], least);
  const rank = agent.instance === undefined ? undefined : fastest.get(`${agent.instance} ${direction}`);
  const byRank = rank && rank !== agent ? differenceOf(agent[direction], rank[direction], least) : undefined;
  if (byRank !== undefined && byRank.factor >= (byDirection?.factor ?? 0)) {
    return { ...byRank, direction, against: { name: rank!.name, direction } };
  }
  return byDirection && { ...byDirection, direction, against: { name: agent.name, direction: other } };
}

/** Returns the rank of each instance and direction that is the fastest one in most of its classes. */
function fastestRanks(agents: readonly UsualOfAgent[]): ReadonlyMap<string, UsualOfAgent> {
  const fastest = new Map<string, UsualOfAgent>();
  for (const agent of agents) {
    if (agent.instance === undefined) continue;
    for (const direction of DIRECTIONS) {
      if (agent[direction].classes.length === 0) continue;
      const key = `${agent.instance} ${direction}`;
      const best = fastest.get(key);
      if (best === undefined || isFaster(agent[direction], best[direction])) fastest.set(key, agent);
    }
  }
  return fastest;
}

function isFaster(one: Usual, other: Usual): boolean {
  const factors = common(one, other).map(([a, b]) => Math.log(a.p50 / b.p50));
  return factors.reduce((sum, factor) => sum + factor, 0) < 0;
}

/** Returns undefined if no class takes so many times as long. */
function differenceOf(slow: Usual, fast: Usual, least: number): Difference | undefined {
  let factor = 0;
  const classes = common(slow, fast).map(([a, b]): SlowClass => {
    const times = a.p50 / Math.max(1, b.p50);
    const isSlow = times >= least && a.p50 >= LEAST_US;
    if (isSlow) factor = Math.max(factor, times);
    return {
      upToBytes: a.upToBytes === UNBOUNDED ? null : a.upToBytes,
      meanBytes: Math.round(a.meanBytes),
      timeUs: Math.round(a.p50),
      usualUs: Math.round(b.p50),
      slow: isSlow,
    };
  });
  return factor === 0 ? undefined : { factor, classes };
}

/** Returns the classes that both have, and that are known well enough. */
function common(one: Usual, other: Usual) {
  return one.classes.flatMap((a) => {
    const b = other.classes.find(({ upToBytes }) => upToBytes === a.upToBytes);
    return b !== undefined && a.transfers >= LEAST_TRANSFERS && b.transfers >= LEAST_TRANSFERS ? [[a, b] as const] : [];
  });
}
