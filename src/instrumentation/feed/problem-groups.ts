/** Problems of rings in groups: a limit of descriptors or another consumer keeps hundreds of rings for one reason. Pure. */
import type { RingProblem } from '../../shm-bridge/types.js';

/** Rings with one state and reason that are named one by one. */
const MOST_NAMED = 3;

/** One ring, or the first of many with its state and reason. */
export interface ProblemGroup extends RingProblem {
  readonly count: number;
}

export function problemGroups(problems: readonly RingProblem[]): ProblemGroup[] {
  const groups = new Map<string, RingProblem[]>();
  for (const problem of problems) {
    const key = `${problem.state}: ${problem.reason}`;
    const alike = groups.get(key);
    if (alike === undefined) groups.set(key, [problem]);
    else alike.push(problem);
  }
  return [...groups.values()].flatMap((alike) =>
    alike.length > MOST_NAMED
      ? [{ ...alike[0]!, count: alike.length }]
      : alike.map((problem) => ({ ...problem, count: 1 })),
  );
}
