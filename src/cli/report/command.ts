/** `nixl-otel report`: shows what a killed run left in its directory, or a report that is in a file. */
import { readFileSync, statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { parsedJson, reasonOf } from '../../ground/errors.js';
import { list } from '../../settings/shape.js';
import { isRunReport, reportProblem } from '../../report/report-problem.js';
import { positionsOf } from '../../shm-bridge/ring.js';
import type { AgentSnapshot } from '../../ground/tally.js';
import { reportText } from '../../report/report-text.js';
import type { RunReport } from '../../report/run-report.js';
import { ExitCode, Failure, orFailure } from '../../process/failure.js';
import { parserOf } from '../../process/flag-parser.js';
import { note, print } from '../../process/output.js';
import { EventTaps } from '../run/event-taps.js';
import { METRICS_ENDING, reportFile, writeReport } from '../run/report-files.js';
import { keptFacts } from '../run/run-directory.js';
import { RunExports, type RingsOfRun } from '../run/run-exports.js';
import { drainIntervalOf } from '../run/ring-size.js';
import { openRunSource, reportOf } from '../run/run-source.js';
import path from 'node:path';

/** Only a machine that is busy with much else needs more than milliseconds. */
const READ_LIMIT_MS = 60_000;

const HELP = `
PLACE is the directory that a killed run left, any other directory of rings that no process drains, or a report in a
file of JSON. report drains the rings, and leaves the directory as it is.

Examples:
  nixl-otel report /dev/shm/nixl-otel-run-a1b2c3
  nixl-otel report result.json --report result.md`;

export function defineReport(command: Command): void {
  command
    .addOption(
      new Option('--report <file>', `file to write, by its ending, as of run; may be repeated`).argParser(
        parserOf(list(reportFile)) as () => never,
      ),
    )
    .addHelpText('after', HELP)
    .action((place: string, { report = [] }: { report?: readonly string[] }) => showReport(place, report));
}

async function showReport(place: string, files: readonly string[]): Promise<void> {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats === undefined) throw new Failure(`${place} does not exist`, ExitCode.NO_RINGS);
  if (stats.isDirectory()) return reportDirectory(path.resolve(place), files);
  if (files.some((file) => path.extname(file) === METRICS_ENDING)) {
    throw new Failure(`a report has no metrics: --report FILE${METRICS_ENDING} needs a directory`, ExitCode.USAGE);
  }
  const report = await orFailure(`${place} cannot be read`, () => reportIn(place));
  print(reportText(report).trimEnd());
  await writeReport(report, files, undefined);
}

/** True if no other process, nor an earlier one, drained events of the agent: a ring that was never drained holds all. */
function isDrainedHereAlone({ path, events, recovered }: AgentSnapshot): boolean {
  return !recovered && positionsOf(path)?.readPos === events.reduce((sum, { count }) => sum + count, 0);
}

/** @throws Failure */
function reportIn(file: string): RunReport {
  const json = parsedJson(readFileSync(file, 'utf8'));
  if (isRunReport(json)) return json;
  throw new Failure(`${file} is ${json === undefined ? 'no JSON' : reportProblem(json)}`);
}

async function reportDirectory(directory: string, files: readonly string[]): Promise<void> {
  const kept = keptFacts(directory);
  const rings = { directory: kept?.rings ?? directory, drainIntervalMs: drainIntervalOf(0) };
  const source = openRunSource(rings);
  const taps = new EventTaps(source);
  try {
    source.drainNow(READ_LIMIT_MS);
    if (source.snapshot().collector.ticks === 0)
      throw new Failure(`the rings of ${directory} were not read within a minute`);
    await source.hold();
    taps.take();
    const run = kept?.run ?? { command: [], directory, beginMs: statSync(directory).birthtimeMs };
    const flushIntervalMs = run.flushIntervalMs ?? 100;
    const report = reportOf(source, { run, notes: kept?.notes ?? [] }, (agent) => ({
      ...(isDrainedHereAlone(agent) && taps.of(agent)),
      ...(agent.life !== 'alive' && { mayMissMs: flushIntervalMs }),
    }));
    print(reportText(report).trimEnd());
    // The exports of metrics drain the rings, too: they must continue the state of this source.
    source.close();
    await writeWithMetrics(report, files, rings);
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`no report of ${directory}: ${reasonOf(error)}`);
  } finally {
    source.close();
  }
  if (kept !== undefined) note(`rm -r ${directory} removes what the run left`);
}

async function writeWithMetrics(report: RunReport, files: readonly string[], rings: RingsOfRun): Promise<void> {
  const needsMetrics = files.some((file) => path.extname(file) === METRICS_ENDING);
  const exports = needsMetrics ? await RunExports.open({}, ['prometheus'], rings) : undefined;
  try {
    await writeReport(report, files, exports && (() => exports.text()));
  } finally {
    await exports?.close();
  }
}
