/**
 * References for the median time of a size class: the fastest quarter of the other agents, and the same agent at an earlier time. Pure; the live page uses this module, too.
 */
import { LEAST_MEDIAN_US } from './class-median.js';
import type { SizeFigures } from './size-figures.js';
import { timeLineThrough, type TimeModel } from './time-line.js';

/** `SizeFigures` of an earlier time are references, too. */
export type ClassReference = Pick<SizeFigures, 'upToBytes' | 'meanBytes' | 'p50Us' | 'few'>;

/** The time of a class as a multiple of its reference. */
export interface ClassMultiple {
  readonly upToBytes: number;
  readonly multiple: number;
  /** Time of as many bytes by the reference. */
  readonly referenceUs: number;
}

/** A host with four GPUs has four agents. With fewer, a slow agent looks like one with another task. */
const LEAST_PEERS = 3;

/**
 * Returns, for each agent, the lower quartile of the medians of the others in each class. Up to three quarters of them can be slow,
 * where the median of all would be slow with half of them. An agent is not its own reference: slow alone, it would move it.
 * @param agents of one host and one direction.
 */
export function fastestQuarterOf<Agent>(
  agents: ReadonlyMap<Agent, readonly SizeFigures[]>,
): ReadonlyMap<Agent, readonly ClassReference[]> {
  const all = [...agents].flatMap(([agent, classes]) => classes.map((reference) => ({ agent, reference })));
  const enough = all.filter(({ reference }) => !reference.few);
  const bounds = [...new Set(enough.map(({ reference }) => reference.upToBytes))].sort((a, b) => a - b);
  const fastestFirst = bounds.map((bound) =>
    enough
      .filter(({ reference }) => reference.upToBytes === bound)
      .sort((a, b) => a.reference.p50Us - b.reference.p50Us),
  );
  const placesOf = fastestFirst.map((alike) => new Map(alike.map(({ agent }, place) => [agent, place])));
  const ofAgent = (agent: Agent): ClassReference[] =>
    fastestFirst.flatMap((alike, i) => {
      const own = placesOf[i]!.get(agent);
      const peers = own === undefined ? alike.length : alike.length - 1;
      if (peers < LEAST_PEERS) return [];
      const place = Math.ceil(peers / 4) - 1;
      return alike[own !== undefined && own <= place ? place + 1 : place]!.reference;
    });
  return new Map([...agents.keys()].map((agent) => [agent, ofAgent(agent)]));
}

/** Returns the classes that have a reference of enough transfers. */
export function against(
  classes: readonly SizeFigures[],
  references: readonly ClassReference[],
): readonly ClassMultiple[] {
  const referenceOf = new Map(references.filter(({ few }) => !few).map((one) => [one.upToBytes, one]));
  return classes.flatMap(({ upToBytes, meanBytes, p50Us }) => {
    const reference = referenceOf.get(upToBytes);
    if (reference === undefined) return [];
    // Larger transfers of the same class may take as much longer. Smaller ones need not be faster: base time does not shrink.
    const growth = Math.max(1, meanBytes / reference.meanBytes);
    const referenceUs = Math.max(LEAST_MEDIAN_US, reference.p50Us) * growth;
    return { upToBytes, multiple: Math.max(LEAST_MEDIAN_US, p50Us) / referenceUs, referenceUs };
  });
}

/** Returns the line of the references, to draw it beside that of an agent. */
export function referenceLineOf(references: readonly ClassReference[]): TimeModel {
  const enough = references.filter(({ few }) => !few);
  return timeLineThrough(
    enough.map(({ p50Us, ...one }) => ({ ...one, medianUs: Math.max(LEAST_MEDIAN_US, p50Us), chance: 0 })),
  );
}
