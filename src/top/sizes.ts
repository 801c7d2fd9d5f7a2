/** Time by size for top: of a serve, or of rings that top observes itself. Pure. */
import type { AgentSizes } from '../view/sizes/direction-sizes.js';
import type { TimeBySize } from '../ground/tally.js';
import { directionSizesOf } from '../view/sizes/direction-sizes.js';
import { fastestQuarterOf } from '../view/sizes/references.js';
import { sizeFiguresOf } from '../view/sizes/size-figures.js';
import type { RecentSizes, SizeWindow } from '../view/sizes/size-window.js';

export type SizesOfAgent = Pick<AgentSizes, 'tx' | 'rx'>;

export interface TopSizes {
  /** Span of the window, milliseconds. */
  readonly recentMs: number;
  /** By id. */
  readonly agents: ReadonlyMap<string, SizesOfAgent>;
  /** For each origin that has none, the reason. */
  readonly missing: readonly string[];
}

export function noSizes(reason: string): TopSizes {
  return { recentMs: 0, agents: new Map(), missing: [reason] };
}

interface SizedRing {
  readonly id: string;
  readonly number: number;
  readonly timeBySize: TimeBySize | undefined;
}

/** Returns the sizes of all rings, or of the one with this id, with its distributions. */
export function sizesOfRings(rings: readonly SizedRing[], window: SizeWindow, nowMs: number, id?: string): TopSizes {
  const recent = new Map(
    rings.map((ring) => [ring.id, window.recentOf({ id: ring.number, timeBySize: ring.timeBySize }, nowMs)]),
  );
  const peersOf = (direction: keyof RecentSizes) =>
    fastestQuarterOf(new Map([...recent].map(([ring, of]) => [ring, sizeFiguresOf(of[direction])])));
  const peers = { transmit: peersOf('transmit'), receive: peersOf('receive') };
  const wanted = rings.filter((ring) => id === undefined || ring.id === id);
  const agents = wanted.flatMap(({ id: ring, timeBySize }): [string, SizesOfAgent][] => {
    if (timeBySize === undefined) return [];
    const sizes = (direction: keyof RecentSizes) => {
      const wants = { details: id !== undefined, peers: peers[direction].get(ring)! };
      return directionSizesOf(timeBySize[direction], recent.get(ring)![direction], wants);
    };
    return [[ring, { tx: sizes('transmit'), rx: sizes('receive') }]];
  });
  return { recentMs: window.spanAt(nowMs), agents: new Map(agents), missing: [] };
}
