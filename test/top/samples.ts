/** Agents' totals for tests of top. */
import type { Buckets } from '../../src/view/figures/time-figures.js';
import type { Facts, TopAgent, TopSample } from '../../src/top/sampler.js';
import { Tracker, type FleetView } from '../../src/top/tracker.js';
import { agentModel } from '../support/agent-models.js';

export const BOUNDS = [10, 100, 1_000, 10_000, 10_000_000];

/** Counts as an exposition has them. */
export function buckets(...counts: number[]): Buckets {
  return { bounds: BOUNDS, counts: BOUNDS.map((_, i) => counts[i] ?? 0).concat(counts[BOUNDS.length] ?? 0) };
}

export function totals(agent: string, about: Partial<TopAgent> = {}): TopAgent {
  return { ...agentModel(agent), errorStatuses: [], fill: 0, unused: false, ...about };
}

export const RINGS: Facts = { origin: { kind: 'rings', name: '/dev/shm/nixl', directories: ['/dev/shm/nixl'] } };

export function sample(takenMs: number, agents: TopAgent[], notes: string[] = [], facts = RINGS): TopSample {
  return { takenMs, agents, notes, facts };
}

/** Returns the views after each of these samples. */
export function viewsOf(...samples: TopSample[]): FleetView[] {
  const tracker = new Tracker();
  return samples.map((one) => tracker.add(one));
}

/** Returns the view after the last of these samples. */
export function viewOf(...samples: TopSample[]): FleetView {
  return viewsOf(...samples).at(-1)!;
}
