/** Usual times that differ a hundredfold: those of an agent's directions, or of agents that do the same work. Pure. */
import { UNBOUNDED } from './place-counts.js';
import type { SlowClass, SlowFact } from './slow-facts.js';
import type { Usual } from './usual-times.js';

/** Healthy directions and agents of one kind differ less: reads wait for an answer, and one peer may be nearer. A hundredfold difference
 * is measured as less by chance. */
const FACTOR = 80;
/** A difference has ended below this one: usual times move a little with each block. */
const END_FACTOR = 40;
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
  /** Agents with the same one do the same work, as the ranks of an instance. Those whose engine is not known have none. */
  readonly group?: string | undefined;
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
    const fastest = fastestOfGroups(agents);
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

/** Returns the greatest difference from the agent's other direction and from the fastest agents of its group. */
function unevenOf(
  agent: UsualOfAgent,
  direction: Direction,
  fastest: ReadonlyMap<string, UsualOfAgent>,
  least: number,
): Uneven | undefined {
  const other = direction === 'transmit' ? 'receive' : 'transmit';
  const movesBoth = agent[other].classes.length > 0;
  const others = (movesBoth ? [direction] : DIRECTIONS).map((way) => [way, fastest.get(keyOf(agent, way))] as const);
  const found = [[other, agent] as const, ...others].flatMap(([way, fast]): Uneven[] => {
    const difference = fast && differenceOf(agent[direction], fast[way], least);
    return difference ? [{ ...difference, direction, against: { name: fast.name, direction: way } }] : [];
  });
  return found.sort((a, b) => b.factor - a.factor)[0];
}

/** Returns the agent of each group and direction that is faster than the others in most of their classes. */
function fastestOfGroups(agents: readonly UsualOfAgent[]): ReadonlyMap<string, UsualOfAgent> {
  const fastest = new Map<string, UsualOfAgent>();
  for (const agent of agents) {
    for (const direction of DIRECTIONS) {
      if (agent[direction].classes.length === 0) continue;
      const best = fastest.get(keyOf(agent, direction));
      if (best === undefined || isFaster(agent[direction], best[direction]))
        fastest.set(keyOf(agent, direction), agent);
    }
  }
  return fastest;
}

function keyOf({ group = '' }: UsualOfAgent, direction: Direction): string {
  return `${direction} ${group}`;
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
