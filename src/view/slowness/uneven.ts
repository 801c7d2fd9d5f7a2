/** Usual times that differ a hundredfold: those of an agent's directions, or of agents that do the same work. Pure. */
import { jsonBound } from './place-counts.js';
import { JUDGED_DIRECTIONS, type JudgedDirection, type SlowClass, type SlowFact } from './slow-facts.js';
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

export interface UsualOfAgent {
  readonly id: number;
  readonly name: string;
  /** Path of its ring. */
  readonly place: string;
  /** Agents with the same one do the same work, as the ranks of an instance. Those of which no engine is known have none. */
  readonly group?: string | undefined;
  readonly transmit: Usual;
  readonly receive: Usual;
  /** Directions in which a change was accepted: what was before is known, and no question. */
  readonly accepted: readonly JudgedDirection[];
}

/** Begins of differences; 0 where it was accepted. */
export type UnevenSince = Partial<Record<JudgedDirection, number>>;

interface Difference {
  readonly factor: number;
  readonly classes: readonly SlowClass[];
}

type Uneven = Difference & Pick<SlowFact, 'direction' | 'against'>;

export class UnevenWatch {
  /** By the path of the ring. */
  #since = new Map<string, UnevenSince>();

  /** Returns undefined while there is no difference. */
  sinceOf(place: string): UnevenSince | undefined {
    return this.#since.get(place);
  }

  restore(place: string, since: UnevenSince): void {
    if (!this.#since.has(place)) this.#since.set(place, since);
  }

  accept(place: string, direction: JudgedDirection): void {
    this.#since.set(place, { ...this.#since.get(place), [direction]: 0 });
  }

  /** Returns the differences that are younger than `acceptMs`. Agents that are missing are forgotten. */
  take(takenMs: number, acceptMs: number, agents: readonly UsualOfAgent[]): SlowFact[] {
    const before = this.#since;
    this.#since = new Map();
    const fastest = fastestOfGroups(agents);
    return agents.flatMap((agent) => {
      const { id, name, place, accepted } = agent;
      const since: UnevenSince = {};
      const facts = JUDGED_DIRECTIONS.flatMap((direction): SlowFact[] => {
        const known = accepted.includes(direction) ? 0 : before.get(place)?.[direction];
        const all = differencesOf(agent, direction, fastest);
        const [greatest] = all.sort((a, b) => b.factor - a.factor);
        const isThere = greatest !== undefined && greatest.factor >= (known === undefined ? FACTOR : END_FACTOR);
        // One that cannot be compared now, because the other side is not known yet, has not ended.
        if (isThere || (known !== undefined && all.length === 0)) since[direction] = known ?? takenMs;
        const sinceMs = since[direction];
        if (!isThere || sinceMs === undefined || takenMs - sinceMs >= acceptMs) return [];
        return [{ kind: 'uneven', id, name, sinceMs, saidMs: sinceMs, ...greatest }];
      });
      if (Object.keys(since).length > 0) this.#since.set(place, since);
      return facts;
    });
  }
}

/** Returns what can be compared: the agent's other direction, and the fastest agents of its group in each size. */
function differencesOf(agent: UsualOfAgent, direction: JudgedDirection, fastest: Fastest): Uneven[] {
  const other = direction === 'transmit' ? 'receive' : 'transmit';
  // An agent that moves in both directions is compared with others in the same one.
  const directions = agent[other].classes.length > 0 ? [direction] : JUDGED_DIRECTIONS;
  const others = new Map<string, readonly [UsualOfAgent, JudgedDirection]>([['own', [agent, other]]]);
  for (const one of directions) {
    for (const { upToBytes } of agent[direction].classes) {
      const fast = fastest.get(keyOf(agent, one, upToBytes));
      if (fast !== undefined && fast !== agent) others.set(`${one} ${fast.id}`, [fast, one]);
    }
  }
  return [...others.values()].flatMap(([{ id, name, ...usual }, one]): Uneven[] => {
    const difference = differenceOf(agent[direction], usual[one]);
    return difference ? [{ ...difference, direction, against: { id, name, direction: one } }] : [];
  });
}

/** Agents by group, direction and class of sizes. */
type Fastest = ReadonlyMap<string, UsualOfAgent>;

function fastestOfGroups(agents: readonly UsualOfAgent[]): Fastest {
  const fastest = new Map<string, UsualOfAgent>();
  const times = new Map<string, number>();
  for (const agent of agents) {
    for (const direction of JUDGED_DIRECTIONS) {
      for (const { upToBytes, transfers, p50 } of agent[direction].classes) {
        const key = keyOf(agent, direction, upToBytes);
        if (transfers < LEAST_TRANSFERS || p50 >= (times.get(key) ?? Infinity)) continue;
        fastest.set(key, agent);
        times.set(key, p50);
      }
    }
  }
  return fastest;
}

function keyOf({ group = '' }: UsualOfAgent, direction: JudgedDirection, upToBytes: number): string {
  return `${direction} ${upToBytes} ${group}`;
}

/** Returns the greatest difference of a class; undefined without a class that both have. */
function differenceOf(slow: Usual, fast: Usual): Difference | undefined {
  let factor = 0;
  const classes = slow.classes.flatMap((a): SlowClass[] => {
    const b = fast.classes.find(({ upToBytes }) => upToBytes === a.upToBytes);
    if (b === undefined || a.transfers < LEAST_TRANSFERS || b.transfers < LEAST_TRANSFERS) return [];
    const times = a.p50 < LEAST_US ? 1 : a.p50 / Math.max(1, b.p50);
    factor = Math.max(factor, times);
    return [
      {
        upToBytes: jsonBound(a.upToBytes),
        meanBytes: Math.round(a.meanBytes),
        timeUs: Math.round(a.p50),
        usualUs: Math.round(b.p50),
        slow: times >= END_FACTOR,
      },
    ];
  });
  return classes.length === 0 ? undefined : { factor, classes };
}
