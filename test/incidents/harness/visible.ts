/** What of a fault is visible in the times of the transfers of an agent, whatever a rule makes of them. */
import { RunningWorld } from '../world/run-world.js';
import type { Fault, SeenTransfer, World } from '../world/shapes.js';
import { SEED } from './run-case.js';

/** A class with fewer in half a minute shows nothing. */
const LEAST_IN_CLASS = 5;
const LOOK_S = 30;

export interface Visible {
  /** Transfers in half a minute of the classes that slowed by `least`. */
  readonly transfers: number;
  /** Growth of the median, all such classes together. */
  readonly factor: number;
}

/** Compares the medians of half a minute after the faults' begin with those of the same world without faults. */
export function visibleOf(
  world: World,
  faults: readonly Fault[],
  agent: string,
  what: 'timeUs' | 'postUs',
  least: number,
): Visible {
  const fromS = Math.min(...faults.map((fault) => fault.fromS));
  const usual = medians(transfersOf(world, [], agent, fromS - 4 * LOOK_S, fromS), what, 1);
  const slow = medians(transfersOf(world, faults, agent, fromS, fromS + LOOK_S), what, LEAST_IN_CLASS);
  const grown = [...slow]
    .map(([size, { median, count }]) => ({ count, factor: median / (usual.get(size)?.median ?? Infinity) }))
    .filter(({ factor }) => factor >= least);
  const transfers = grown.reduce((sum, { count }) => sum + count, 0);
  return { transfers, factor: grown.reduce((sum, { count, factor }) => sum + (count / transfers) * factor, 0) };
}

function transfersOf(
  world: World,
  faults: readonly Fault[],
  agent: string,
  fromS: number,
  untilS: number,
): SeenTransfer[] {
  const running = new RunningWorld(world, faults, SEED, untilS);
  return running.advance(untilS * 1000).filter((each) => each.agent === agent && each.seenUs >= fromS * 1e6);
}

function medians(transfers: readonly SeenTransfer[], what: 'timeUs' | 'postUs', least: number) {
  const classes = new Map<number, number[]>();
  for (const transfer of transfers) {
    const size = Math.ceil(Math.log2(transfer.bytes));
    classes.set(size, [...(classes.get(size) ?? []), transfer[what]]);
  }
  return new Map(
    [...classes]
      .filter(([, values]) => values.length >= least)
      .map(([size, values]) => {
        const sorted = values.sort((a, b) => a - b);
        return [size, { count: sorted.length, median: sorted[Math.floor(sorted.length / 2)]! }] as const;
      }),
  );
}
