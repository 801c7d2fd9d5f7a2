/** `nixl-otel read`: prints the events of rings. Observes them by default, and drains nothing. */
import { setImmediate } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { list, notEmpty, wholeNumber } from '../../settings/shape.js';
import { inspectRing } from '../../shm-bridge/ring.js';
import { ExitCode, Failure } from '../process/failure.js';
import { parserOf } from '../flag-parser.js';
import { isOutputComplete, note, printChunk, onStdoutClosed } from '../process/output.js';
import { StopRequest } from '../process/stop.js';
import { eventFilter, type FilterOptions, parseTime } from './event-filter.js';
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
  summary?: boolean;
}

/** Half of the time in which the fastest agent fills a ring of 4096 events. */
const FOLLOW_INTERVAL_MS = 50;

const HELP = `
Without --consume, read observes a ring: it removes no events and does not disturb the ring's consumer. Agents reuse drained
slots. If a ring wraps between two reads, read misses events and prints a note.

With --follow, read continues with a file that replaces a ring. If no file of that name can be read, read prints a note.

If a file is no ring, was truncated or cannot be opened, read prints a note and reads the other files. The exit code is 4 if a
file is no ring or was truncated, else 5 if a file cannot be opened, else 3 if a file does not exist. With --follow, the
states of the files at the end decide, because a file may become a ring later.

With --summary, read ends with a table on stderr: count, sum, p50, p90, p99 and max of the printed events by name. --format does
not change the table. Percentiles are within 3 % of a value that occurred; whole numbers up to 26 are exact.

JSON has exact values, also above 2^53. Only rings of NIXL 0.5.1 to 1.0.1 contain times.

Examples:
  nixl-otel read /dev/shm/nixl/agent-0
  nixl-otel read --follow --errors --format line /dev/shm/nixl/*
  nixl-otel read --follow --summary /dev/shm/nixl/* > /dev/null
  nixl-otel read --slow 10ms --format json /dev/shm/nixl/agent-0 | jq .value`;

export function defineRead(command: Command): void {
  command
    .addOption(new Option('--format <format>', 'format of the events').choices(READ_FORMATS).default('text'))
    .option('--utc', 'print times in UTC (default: local time)')
    .option('--consume', 'drain the ring instead of observing it; refused while a collector drains it')
    .option('--follow', 'wait for further events until Ctrl-C')
    .option(
      '--event <glob>',
      'print only events of this name, with * and ?; may be repeated',
      parserOf(list(notEmpty('a name'))),
    )
    .option('--errors', 'print only errors')
    .option('--slow <time>', 'print only transfer and post times of at least this time, such as 10ms', parseTime)
    .option('--max-events <n>', 'end after this many events', parserOf(wholeNumber(1)))
    .option('--summary', 'at the end, print counts, sums and percentiles of the printed events to stderr')
    .addHelpText('after', HELP)
    .action(read);
}

async function read(rings: string[], options: ReadOptions, command: Command): Promise<void> {
  if (options.errors === true && options.slow !== undefined) {
    command.error('error: --errors and --slow exclude each other: no event is both an error and a time');
  }
  const stop = new StopRequest();
  onStdoutClosed(() => stop.request());
  let readings: Readings | undefined;
  try {
    const followed = options.follow === true ? (await import('./followed-ring.js')).FollowedRing : undefined;
    readings = new Readings(rings, options.consume, followed);
    const counts = { printed: 0, seen: 0 };
    const most = options.maxEvents ?? Infinity;
    const isDone = (): boolean => stop.isRequested || counts.printed >= most;
    const summary = options.summary === true ? new (await import('./summary.js')).Summary() : undefined;
    const writer = new EventWriter(options.format, options.utc ?? false, eventFilter(options), summary);
    const print = async (reading: Reading): Promise<void> => {
      const rest = most - counts.printed;
      const events = reading.take(Math.min(BATCH_EVENTS, rest));
      if (events === undefined) return;
      counts.seen += events.length;
      counts.printed += writer.write(reading.agent, events, rest);
      await printChunk(writer.take());
    };
    await printChunk(headerOf(options.format));
    while (!isDone()) {
      const before = counts.seen;
      for (const reading of readings.open) if (!isDone()) await print(reading);
      // Signals arrive between turns of the event loop. Without this pause, a fast agent would keep the loop in one turn.
      await setImmediate();
      if (counts.seen > before) continue;
      if (options.follow !== true) break;
      await stop.pause(FOLLOW_INTERVAL_MS);
    }
    readings.reportLoss();
    const table = summary?.table();
    if (table !== undefined) process.stderr.write(`${table}\n`);
    await noteEnd(readings, counts, stop.isRequested);
  } finally {
    readings?.close();
    stop.dispose();
  }
}

/** Writes a summary. @throws Failure if not all files could be read. */
async function noteEnd(
  { files, unreadable, exitCode }: Readings,
  counts: Readonly<Record<'printed' | 'seen', number>>,
  stopped: boolean,
): Promise<void> {
  const of = unreadable === 0 ? '' : `${files.length - unreadable} of `;
  const from = `from ${of}${files.length} ring${files.length > 1 ? 's' : ''}`;
  const isAllOut = counts.printed === 0 || (await isOutputComplete());
  const summary = isAllOut
    ? `${counts.printed} of ${counts.seen} events printed, ${from}`
    : `not all of ${counts.printed} events could be printed, ${from}`;
  if (exitCode === ExitCode.OK) note(summary);
  if (counts.seen === 0 && !stopped && files.some((file) => inspectRing(file).consumed === true)) {
    note('a collector drains these rings; --follow prints further events');
  }
  if (exitCode !== ExitCode.OK) throw new Failure(summary, exitCode);
}
