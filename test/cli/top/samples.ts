/** Agents' totals for tests of top. */
import type { Buckets } from '../../../src/cli/top/buckets.js';
import type { AgentTotals, Facts, Sample } from '../../../src/cli/top/sampler.js';
import { Tracker, type View } from '../../../src/cli/top/tracker.js';

export const BOUNDS = [10, 100, 1_000, 10_000, 10_000_000];

/** Counts as an exposition has them. */
export function buckets(...counts: number[]): Buckets {
  return { bounds: BOUNDS, counts: BOUNDS.map((_, i) => counts[i] ?? 0).concat(counts[BOUNDS.length] ?? 0) };
}

export function totals(agent: string, about: Partial<AgentTotals> = {}): AgentTotals {
  return {
    id: agent,
    agent,
    life: 'alive',
    txBytes: 0,
    rxBytes: 0,
    requests: 0,
    errors: 0,
    lost: 0,
    lostMore: false,
    missed: false,
    fill: 0,
    idleMs: 20,
    unused: false,
    ...about,
  };
}

export const RINGS: Facts = { origin: { kind: 'rings', name: '/dev/shm/nixl', directories: ['/dev/shm/nixl'] } };

export function sample(takenMs: number, agents: AgentTotals[], notes: string[] = [], facts = RINGS): Sample {
  return { takenMs, agents, notes, facts };
}

/** Returns the views after each of these samples. */
export function viewsOf(...samples: Sample[]): View[] {
  const tracker = new Tracker();
  return samples.map((one) => tracker.add(one));
}

/** Returns the view after the last of these samples. */
export function viewOf(...samples: Sample[]): View {
  return viewsOf(...samples).at(-1)!;
}
