/** `nixl-otel compare`: whether transfers of later runs take longer than those of earlier ones, by the reports of run. */
import type { Command } from 'commander';
import { printableJson } from '../../ground/one-line.js';
import { plural } from '../../ground/figures/figure.js';
import { Failure } from '../../process/failure.js';
import { parserOf } from '../../process/flag-parser.js';
import { print } from '../../process/output.js';
import { refuse, type Shape } from '../../settings/shape.js';
import { type ComparedRun, compareRuns } from '../../comparison/comparison.js';
import {
  classesAbove,
  classText,
  comparisonObject,
  hiddenText,
  rateTable,
  timeTable,
} from '../../comparison/comparison-text.js';
import { comparedRun } from '../../report/compared-run.js';
import { readReport } from './report-file.js';

const HELP = `
Compares the median times of each direction and size. A difference is called only where chance, noise within the runs and the usual
noise between runs do not explain it: of a hundred comparisons of equal runs, at most one calls any. In brackets: the multiples that
the counts allow. With one run of each, only differences above about 1.4 can be told. Runs made in turn (A, B, A, B...) show
smaller ones; runs of one side that follow each other do not.

Rates have no verdict: rare long transfers decide over them.

With --fail-above, the exit code is 1 if a class surely takes longer, and more than so many times as long.

Examples:
  nixl-otel compare before.json after.json --fail-above 1.2
  nixl-otel compare before-*.json --with after-*.json
  nixl-otel compare a.json b.json --json | jq 'select(.verdict == "slower")'`;

const BOUND: Pick<Shape<number>, 'parse'> = {
  parse: (text) =>
    /^\d+(\.\d+)?$/.test(text) && Number(text) >= 1 ? Number(text) : refuse('a number from 1 on, as 1.2'),
};

interface CompareOptions {
  with?: string[];
  failAbove?: number;
  json?: boolean;
}

export function defineCompare(command: Command): void {
  command
    .option('--with <report...>', 'reports of side B, where a side has several')
    .option(
      '--fail-above <multiple>',
      'exit code 1 if a class takes longer than this, as 1.2',
      parserOf(BOUND as Shape<number>),
    )
    .option('--json', 'one JSON object per direction and size')
    .addHelpText('after', HELP)
    .action((reports: string[], options: CompareOptions) => compare(reports, options, command));
}

function compare(reports: readonly string[], options: CompareOptions, command: Command): void {
  const [filesOfA, filesOfB] = sides(reports, options.with, command);
  const { classes, turns } = compareRuns(runsOf(filesOfA), runsOf(filesOfB));
  if (options.json === true) classes.map(comparisonObject).map(printableJson).forEach(print);
  else {
    print(`A: ${filesOfA.join(', ')}`);
    print(`B: ${filesOfB.join(', ')}`);
    if (classes.length === 0) print('no transfers in any of them');
    else {
      const hidden = hiddenText(classes, turns);
      for (const text of [timeTable(classes), rateTable(classes), hidden]) if (text) print(`\n${text}`);
    }
  }
  const { failAbove } = options;
  const above = failAbove === undefined ? [] : classesAbove(classes, failAbove);
  if (above.length === 0) return;
  throw new Failure(
    `${plural(above.length, 'class', 'classes')} above ${failAbove} times: ${above.map(classText).join(', ')}`,
  );
}

function runsOf(files: readonly string[]): ComparedRun[] {
  return files.map((file) => comparedRun(readReport(file)));
}

function sides(
  reports: readonly string[],
  others: readonly string[] | undefined,
  command: Command,
): readonly [a: readonly string[], b: readonly string[]] {
  const all = [...reports, ...(others ?? [])];
  const twice = all.find((file, i) => all.indexOf(file) !== i);
  if (twice !== undefined) return command.error(`error: ${twice} is given twice; allowed: each run once`);
  if (others !== undefined) return [reports, others];
  if (reports.length === 2) return [[reports[0]!], [reports[1]!]];
  return command.error(
    `error: ${plural(reports.length, 'report')} without --with; allowed: two, as A.json B.json, or A1.json A2.json --with B1.json B2.json`,
  );
}
