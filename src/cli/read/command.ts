/** `nixl-otel read`: prints the events of rings. Observes them by default, and drains nothing. */
import { plural } from '../../ground/figures/figure.js';
import { setImmediate } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { list, notEmpty, wholeNumber } from '../../settings/shape.js';
import { lockHolders } from '../../view/rings/ring-locks.js';
import { ExitCode, Failure } from '../../process/failure.js';
import { parserOf } from '../../process/flag-parser.js';
import { isOutputComplete, note, printChunk, onStdoutClosed } from '../../process/output.js';
import { StopRequest } from '../../process/stop.js';
import { type EventFilter, eventFilter, type FilterOptions, parseTime } from './event-filter.js';
import { type EventFormat, headerOf, READ_FORMATS } from './event-text.js';
import { EventWriter } from './event-writer.js';
import { MergedEvents } from './merged-events.js';
import { Readings } from './readings.js';

interface ReadOptions extends EventFormat, FilterOptions {
  /** Globs of names. */
  event?: readonly string[];
  consume?: boolean;
  follow?: boolean;
  maxEvents?: number;
  summary?: boolean;
}

/** Half of the time in which the fastest agent fills a ring of 4096 events. */
const FOLLOW_INTERVAL_MS = 50;

const HELP = `
Without --consume, read observes a ring: it removes no events and does not disturb the ring's consumer. Agents reuse
drained slots. If a ring wraps between two reads, read misses events and prints a note.

Events of several rings are printed in the order of their times; those of one ring keep their order. With --follow,
events wait a quarter of a second for earlier ones of other rings. An event that comes later than that is printed
late. With --consume and --max-events, rings are drained one after the other.

Only rings of NIXL 0.5.1 to 1.0.1 contain times. With --follow, events of other rings have the time at which read saw
them: "Arrived:" in text, ~ before the time in lines, "arrived" in JSON and CSV. read looks every 50 ms. Events that
were in a ring before read began have no time.

With --follow, read continues with a file that replaces a ring. If no file of that name can be read, read prints a
note.

If a file is no ring, was truncated or cannot be opened, read prints a note and reads the other files. The exit code
is 4 if a file is no ring or was truncated, else 5 if a file cannot be opened, else 3 if a file does not exist. With
--follow, the states of the files at the end decide, because a file may become a ring later.

With --summary, read ends with a table on stderr: count, sum, p50, p90, p99 and max of the printed events by name.
--format does not change the table. Percentiles are within 3 % of a value that occurred; whole numbers up to 26 are
exact.

Events go to stdout, one line each except in the format text; notes go to stderr. JSON has times in ISO 8601, and
exact values, also above 2^53.

Examples:
  nixl-otel read /dev/shm/nixl/agent-0
  nixl-otel read --follow --errors --format line /dev/shm/nixl/*
  nixl-otel read --follow --summary /dev/shm/nixl/* > /dev/null
  nixl-otel read --slow 10ms --format json /dev/shm/nixl/agent-0 | jq .value`;

export function defineRead(command: Command): void {
  command
    .addOption(new Option('--format <format>', 'format of the events').choices(READ_FORMATS).default('text'))
    .option('--utc', 'print times in UTC (default: local time; JSON always has UTC)')
    .option('--units', 'print the unit beside each value: B for bytes, us for microseconds')
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
    const { maxEvents: most = Infinity, consume: consumes = false, follow: follows = false } = options;
    const followed = follows ? (await import('./followed-ring.js')).FollowedRing : undefined;
    readings = new Readings(rings, consumes, followed);
    const summary = options.summary === true ? new (await import('./summary.js')).Summary() : undefined;
    const writer = new EventWriter(options, await filterOf(options), summary);
    const events = new MergedEvents(readings.open, writer, { most, follows, consumes });
    const isDone = (): boolean => stop.isRequested || events.isComplete;
    const print = async (isLast: boolean): Promise<void> => {
      for (let hasMore = true; hasMore && (isLast || !stop.isRequested);) {
        hasMore = events.write(isLast);
        await printChunk(writer.take());
      }
    };
    await printChunk(headerOf(options));
    while (!isDone() && (follows || !events.isAtEnd)) {
      const hasNew = events.take();
      await print(false);
      // Signals arrive between turns of the event loop. Without this pause, a fast agent would keep the loop in one turn.
      await setImmediate();
      if (follows && !hasNew) await stop.pause(FOLLOW_INTERVAL_MS);
    }
    await print(true);
    readings.reportLoss();
    const table = summary?.table();
    if (table !== undefined) process.stderr.write(`${table}\n`);
    await noteEnd(readings, events, stop.isRequested);
  } finally {
    readings?.close();
    stop.dispose();
  }
}

async function filterOf(options: ReadOptions): Promise<EventFilter> {
  if (options.event === undefined) return eventFilter(options);
  const { globPattern } = await import('../../mapping/allowlist.js');
  return eventFilter(options, options.event.map(globPattern));
}

/** Writes a summary. @throws Failure if not all files could be read. */
async function noteEnd(readings: Readings, { printed, seen }: MergedEvents, stopped: boolean): Promise<void> {
  const { files, unreadable, exitCode } = readings;
  const of = unreadable === 0 ? '' : `${files.length - unreadable} of `;
  const from = `from ${of}${plural(files.length, 'ring')}`;
  const isAllOut = printed === 0 || (await isOutputComplete());
  const summary = isAllOut
    ? `${printed} of ${seen} events printed, ${from}`
    : `not all of ${printed} events could be printed, ${from}`;
  if (exitCode === ExitCode.OK) note(summary);
  if (seen === 0 && !stopped && lockHolders(files).some((holder) => holder !== undefined)) {
    note('a collector drains these rings; --follow prints further events');
  }
  if (exitCode !== ExitCode.OK) throw new Failure(summary, exitCode);
}
