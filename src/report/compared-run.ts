/** What a comparison takes of a report. Pure. */
import type { ComparedRun } from '../comparison/comparison.js';
import type { RunSlice, SliceClass } from '../comparison/run-slices.js';
import type { DirectionName, RunReport } from './run-report.js';

/** A report of a run that was not watched has all its transfers in one slice, which tells nothing about noise within it. */
export function comparedRun({ run, slices, agents, takenMs }: RunReport): ComparedRun {
  const classesOf = (direction: DirectionName): SliceClass[] =>
    agents.flatMap((agent) => agent[direction].classes.map((one) => ({ ...one, totalUs: one.timeSumUs })));
  const whole = (): RunSlice => ({ endMs: takenMs, tx: classesOf('tx'), rx: classesOf('rx') });
  return { beginMs: run.beginMs, slices: slices ?? [whole()] };
}
