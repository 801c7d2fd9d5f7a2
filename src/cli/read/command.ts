/** `nixl-otel read`: the events of rings, printed. Looks on by default and takes nothing. */
import { setImmediate } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { inspectRing } from '../../shm-bridge/index.js';
import { listOf, notEmpty, wholeNumber } from '../options.js';
import { isAllPrinted, note, printChunk, whenStdoutCloses } from '../output.js';
import { StopRequest } from '../stop.js';
import { duration, eventFilter, type FilterOptions } from './event-filter.js';
import { headerOf, READ_FORMATS, type ReadFormat } from './event-text.js';
import { EventWriter } from './event-writer.js';
import { FollowedRing } from './followed-ring.js';
import { BATCH_EVENTS, OpenedRing, type Reading } from './opened-ring.js';

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

async function read(rings: string[], options: ReadOptions): Promise<void> {
  const stop = new StopRequest();
  let stopping = false;
  void stop.requested.then(() => (stopping = true));
  whenStdoutCloses(() => stop.request());
  const readings: Reading[] = [];
  try {
    const Ring = options.follow === true ? FollowedRing : OpenedRing;
    for (const ring of rings) readings.push(new Ring(ring, options.consume === true));
    const counts = { printed: 0, seen: 0 };
    const isDone = (): boolean => stopping || counts.printed >= (options.maxEvents ?? Infinity);
    const printer = new Printer(options, counts);
    await printer.begin();
    while (!isDone()) {
      const before = counts.seen;
      for (const reading of readings) if (!isDone()) await printer.print(reading);
      // Signals come between two turns of the event loop, which a fast agent would leave none of.
      await setImmediate();
      if (counts.seen > before) continue;
      if (options.follow !== true) break;
      await Promise.race([stop.requested, new Promise((resolve) => setTimeout(resolve, FOLLOW_INTERVAL_MS))]);
    }
    const from = `from ${rings.length} ring${rings.length > 1 ? 's' : ''}`;
    if (counts.printed === 0 || (await isAllPrinted()))
      note(`${counts.printed} of ${counts.seen} events printed, ${from}`);
    else note(`not all of ${counts.printed} events could be printed, ${from}`);
    if (counts.seen === 0 && !stopping && rings.some((ring) => inspectRing(ring).consumed === true)) {
      note('a collector drains what is written; with --follow you see it pass');
    }
  } finally {
    for (const reading of readings) reading.close();
    stop.dispose();
  }
}

class Printer {
  readonly #header: string;
  readonly #writer: EventWriter;
  readonly #most: number;
  readonly #counts: { printed: number; seen: number };

  constructor(options: ReadOptions, counts: { printed: number; seen: number }) {
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
