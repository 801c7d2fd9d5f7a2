/** `nixl-otel read`: the events of rings, printed. Looks on by default and takes nothing. */
import { setImmediate } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { inspectRing } from '../../shm-bridge/index.js';
import { ExitCode, Failure } from '../process/failure.js';
import { listOf, notEmpty, wholeNumber } from '../flags.js';
import { isAllPrinted, note, printChunk, whenStdoutCloses } from '../process/output.js';
import { StopRequest } from '../process/stop.js';
import { duration, eventFilter, type FilterOptions } from './event-filter.js';
import { headerOf, READ_FORMATS, type ReadFormat } from './event-text.js';
import { EventWriter } from './event-writer.js';
import { BATCH_EVENTS, type Reading } from './opened-ring.js';
import { Readings } from './readings.js';

interface ReadOptions extends FilterOptions {
  format: ReadFormat;
  utc?: boolean;
  consume?: boolean;
  follow?: boolean;
  maxEvents?: number;
}

/** Half of what the fastest agent needs to go round a ring of 4096 events. */
const FOLLOW_INTERVAL_MS = 50;

const HELP = `
Without --consume nothing is taken: the agents and whoever drains the rings notice nothing. But slots that were drained
are written again, so events can be missed where a ring goes round between two looks; a note says so.

With --follow a file that takes the place of a ring is read instead of it, and a note says when there is none to read.

A file that is no ring, was cut, or cannot be opened costs a note; the others are read. At the end the exit code is 4 where a
file is no ring or was cut, else 5 where one cannot be opened, else 3 where one is not there. With --follow, what counts is the
state at the end, and a file that became a ring meanwhile is read.

Values in JSON are exact, also above 2^53. Times stand in rings of NIXL 0.5.1 to 1.0.1 only.

Examples:
  nixl-otel read /dev/shm/nixl/agent-0
  nixl-otel read --follow --errors --format line /dev/shm/nixl/*
  nixl-otel read --slow 10ms --format json /dev/shm/nixl/agent-0 | jq .value`;

export function addRead(program: Command): void {
  program
    .command('read')
    .description('print the events of rings')
    .argument('<ring...>', 'files that agents write')
    .addOption(new Option('--format <format>', 'of the events').choices(READ_FORMATS).default('text'))
    .option('--utc', 'times in UTC (default: local time)')
    .option('--consume', 'take the events out of the ring; refused while a collector holds it')
    .option('--follow', 'go on until Ctrl-C')
    .option('--event <glob>', 'only events of this name, with * and ?; may be repeated', listOf(notEmpty('a name')))
    .option('--errors', 'only errors')
    .option('--slow <time>', 'only transfer and post times of at least this, as in 10ms', duration)
    .option('--max-events <n>', 'end after so many', wholeNumber(1))
    .addHelpText('after', HELP)
    .action(read);
}

async function read(rings: string[], options: ReadOptions, command: Command): Promise<void> {
  if (options.errors === true && options.slow !== undefined) {
    command.error('error: --errors and --slow exclude each other: no event is both an error and a time');
  }
  const stop = new StopRequest();
  let stopping = false;
  void stop.requested.then(() => (stopping = true));
  whenStdoutCloses(() => stop.request());
  let readings: Readings | undefined;
  try {
    readings = new Readings(rings, { follow: options.follow === true, consume: options.consume === true });
    const counts = { printed: 0, seen: 0 };
    const isDone = (): boolean => stopping || counts.printed >= (options.maxEvents ?? Infinity);
    const printer = new Printer(options, counts);
    await printer.begin();
    while (!isDone()) {
      const before = counts.seen;
      for (const reading of readings.open) if (!isDone()) await printer.print(reading);
      // Signals come between two turns of the event loop, which a fast agent would leave none of.
      await setImmediate();
      if (counts.seen > before) continue;
      if (options.follow !== true) break;
      await Promise.race([stop.requested, new Promise((resolve) => setTimeout(resolve, FOLLOW_INTERVAL_MS))]);
    }
    readings.noteLost();
    await noteEnd(readings, counts, stopping);
  } finally {
    readings?.close();
    stop.dispose();
  }
}

/** @throws Failure when not all files could be read. */
async function noteEnd({ files, unreadable, exitCode }: Readings, counts: Counts, stopped: boolean): Promise<void> {
  const of = unreadable === 0 ? '' : `${files.length - unreadable} of `;
  const from = `from ${of}${files.length} ring${files.length > 1 ? 's' : ''}`;
  const isAllOut = counts.printed === 0 || (await isAllPrinted());
  const summary = isAllOut
    ? `${counts.printed} of ${counts.seen} events printed, ${from}`
    : `not all of ${counts.printed} events could be printed, ${from}`;
  if (exitCode === ExitCode.OK) note(summary);
  if (counts.seen === 0 && !stopped && files.some((file) => inspectRing(file).consumed === true)) {
    note('a collector drains what is written; with --follow you see it pass');
  }
  if (exitCode !== ExitCode.OK) throw new Failure(summary, exitCode);
}

interface Counts {
  printed: number;
  seen: number;
}

class Printer {
  readonly #header: string;
  readonly #writer: EventWriter;
  readonly #most: number;
  readonly #counts: Counts;

  constructor(options: ReadOptions, counts: Counts) {
    this.#header = headerOf(options.format);
    this.#writer = new EventWriter(options.format, options.utc ?? false, eventFilter(options));
    this.#most = options.maxEvents ?? Infinity;
    this.#counts = counts;
  }

  async begin(): Promise<void> {
    await printChunk(this.#header);
  }

  async print(reading: Reading): Promise<void> {
    const counts = this.#counts;
    const rest = this.#most - counts.printed;
    const events = reading.take(Math.min(BATCH_EVENTS, rest));
    counts.seen += events.length;
    counts.printed += this.#writer.write(reading.agent, events, rest);
    await printChunk(this.#writer.take());
  }
}
