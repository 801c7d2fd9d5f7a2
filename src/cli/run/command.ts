/** `nixl-otel run`: runs a command whose NIXL agents write rings, and reports what they did. */
import { closeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type Command, Option } from 'commander';
import path from 'node:path';
import { reasonOf } from '../../ground/errors.js';
import { bytesText } from '../../ground/figures/figure.js';
import { list, milliseconds } from '../../settings/shape.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import { reportText } from '../../report/report-text.js';
import type { RunFacts } from '../../report/run-report.js';
import { type ExitCodeNumber, Failure } from '../../process/failure.js';
import { parserOf } from '../../process/flag-parser.js';
import { note } from '../../process/output.js';
import { StopRequest } from '../../process/stop.js';
import type { RingSource } from '../../shm-bridge/source.js';
import { addFlags } from '../flags.js';
import { agentEnvironment } from './agent-environment.js';
import { CommandProcess } from './command-process.js';
import { METRICS_ENDING, reportFile, writeReport } from './report-files.js';
import { drainIntervalOf, FLUSH_INTERVAL_MS, ringSizeText, slotsFor } from './ring-size.js';
import { keepFacts, makeRunDirectory, removeRunDirectory, type RunDirectory } from './run-directory.js';
import { RUN_ROWS, RunExports } from './run-exports.js';
import { openRunSource, reportOf } from './run-source.js';
import { RunWatch } from './run-watch.js';

interface RunOptions extends Partial<ServeSettings> {
  report?: readonly string[];
  tmpfs?: string;
  waitForAgents: number;
}

/** As of env, timeout and docker run: this program failed, and not the command. */
const OWN_FAILURE = 125;
const DEFAULT_WAIT_MS = 2000;

const HELP = `
COMMAND gets the variables with which each NIXL agent below it writes a ring, in a directory of its own on a tmpfs. run
prints a report on stderr when COMMAND ends, and removes the directory. Terminal, stdin and stdout belong to COMMAND.

The exit code is that of COMMAND, 128 + N if signal N ended it, 127 if it is not found, 126 if it cannot be executed,
and 125 if run itself fails. run leaves Ctrl-C to COMMAND, and passes SIGTERM and SIGHUP on.

If run is killed, nixl-otel report DIR shows what is in the directory.

Examples:
  nixl-otel run -- python3 bench.py --size 1G
  nixl-otel run --report result.json --report result.md -- pytest tests/
  nixl-otel run --exporter otlp --otlp-endpoint http://collector:4318 -- torchrun job.py`;

export function defineRun(command: Command): void {
  command
    .usage('[flags] -- COMMAND [ARGUMENTS]')
    .addOption(
      new Option(
        '--report <file>',
        `file of the report: .html to look at, .json for scripts and compare, .md for a CI job, or ${METRICS_ENDING} with metrics for node_exporter; may be repeated`,
      ).argParser(parserOf(list(reportFile)) as () => never),
    )
    .option(
      '--tmpfs <dir>',
      "parent of run's directory (default: the first of /dev/shm, $XDG_RUNTIME_DIR and $TMPDIR with room)",
    )
    .addOption(
      new Option('--wait-for-agents <ms>', 'longest time for which the report waits for agents that outlive COMMAND')
        .argParser(parserOf(milliseconds(0)) as () => never)
        .default(DEFAULT_WAIT_MS),
    );
  addFlags(command, RUN_ROWS)
    .addHelpText('after', HELP)
    .action((argv: readonly string[], options: RunOptions) => runCommand(argv, options, command));
}

async function runCommand(argv: readonly string[], options: RunOptions, command: Command): Promise<void> {
  const exporters = exportersOf(options, command);
  keepTerminalSettings();
  let opened: OpenedRun;
  try {
    opened = await openRun(argv, options, exporters);
  } catch (error) {
    throw new Failure(reasonOf(error), OWN_FAILURE as ExitCodeNumber);
  }
  const { place, source, watch, exports, environment, notes } = opened;
  let isReported = true;
  const child = new CommandProcess(argv, environment);
  watch.begin();
  const { exitCode, signal, problem } = await child.ended;
  // From now on a signal ends the wait, and a second one the report.
  const stop = new StopRequest();
  const run: RunFacts = { ...opened.run, endMs: Date.now(), exitCode, ...(signal && { signal }) };
  if (problem !== undefined) note(problem, 'error');
  else keepFactsIfPossible(place, { run, notes });
  try {
    await waitForAgents(source, watch, options.waitForAgents, stop);
    if (problem === undefined) await finish();
  } catch (error) {
    note(`the report failed: ${reasonOf(error)}`, 'error');
    isReported = false;
  } finally {
    watch.end();
    await exports?.close();
    leave(place, source, watch);
    stop.dispose();
  }
  const code = exitCode === 0 && !isReported ? OWN_FAILURE : exitCode;
  if (code !== 0) throw new Failure('', code as ExitCodeNumber);

  async function finish(): Promise<void> {
    await source.hold();
    watch.sample();
    const report = reportOf(source, { run, notes, watch }, (agent) => watch.of(agent));
    process.stderr.write(`\n${reportText(report)}`);
    await writeReport(report, options.report ?? [], exports && (() => exports.text()));
  }
}

type OpenedRun = Awaited<ReturnType<typeof openRun>>;

async function openRun(argv: readonly string[], options: RunOptions, exporters: readonly string[]) {
  const place = makeRunDirectory(options.tmpfs);
  try {
    const available = process.availableMemory();
    const free = Math.min(place.freeBytes, available);
    const slots = slotsFor(free);
    const where =
      free === available ? 'memory that is free for this process' : `free space of ${path.dirname(place.path)}`;
    const disk = place.isInMemory ? [] : [`${place.path} is on a disk, not a tmpfs: agents may wait for it`];
    const agents = agentEnvironment(process.env, {
      directory: place.rings,
      slots,
      flushIntervalMs: FLUSH_INTERVAL_MS,
    });
    for (const line of [...disk, ...agents.notes]) note(line, 'warning');
    const notes = [...disk, ...agents.notes, ringSizeText(slots, `${bytesText(free)} of ${where}`)];
    const run: RunFacts = {
      command: argv,
      directory: place.path,
      beginMs: Date.now(),
      bufferSlots: slots,
      flushIntervalMs: FLUSH_INTERVAL_MS,
    };
    keepFacts(place.path, { run, notes });
    const rings = { directory: place.rings, drainIntervalMs: drainIntervalOf(slots) };
    const exports = exporters.length === 0 ? undefined : await RunExports.open(options, exporters, rings);
    const source = openRunSource(rings);
    const watch = new RunWatch(source, run.beginMs, FLUSH_INTERVAL_MS);
    return { place, source, watch, exports, environment: agents.variables, notes, run };
  } catch (error) {
    removeRunDirectory(place);
    throw error;
  }
}

/** A file of metrics needs the exposition of the exporter `prometheus`, which this command serves nowhere else. */
function exportersOf({ exporter, report = [] }: RunOptions, command: Command): readonly string[] {
  const names = [...new Set([exporter ?? []].flat())].filter((name) => name !== 'none');
  if (names.includes('prometheus')) {
    command.error(`error: run serves no page: --report FILE${METRICS_ENDING} writes the metrics into a file`);
  }
  return report.some((file) => path.extname(file) === METRICS_ENDING) ? [...names, 'prometheus'] : names;
}

/** Waits until no agent is seen alive. */
async function waitForAgents(source: RingSource, watch: RunWatch, limitMs: number, stop: StopRequest): Promise<void> {
  const endMs = performance.now() + limitMs;
  await source.drain();
  watch.sample();
  watch.settle();
  while (watch.lives().includes('alive') && performance.now() < endMs && !stop.isRequested) {
    await stop.pause(20);
    await source.drain();
    watch.sample();
  }
}

/** Removes the directory if every writer was seen gone. Otherwise an agent may still need it. */
function leave(place: RunDirectory, source: RingSource, watch: RunWatch): void {
  const isGone = watch.lives().every((life) => life === 'dead');
  source.close();
  if (isGone) removeRunDirectory(place);
  else note(`${place.path} stays, because an agent may still use it; nixl-otel report ${place.path} shows what it has`);
}

/** Node restores at its end the settings that its terminals had at its begin: those of the command would be lost. */
function keepTerminalSettings(): void {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  process.prependListener('exit', () => {
    for (const fd of terminals) closeSync(fd);
  });
}

function keepFactsIfPossible(place: RunDirectory, facts: Parameters<typeof keepFacts>[1]): void {
  try {
    keepFacts(place.path, facts);
  } catch (error) {
    note(`the end of the command cannot be kept in ${place.path}: ${reasonOf(error)}`, 'warning');
  }
}
