/** `nixl-otel top`: live rates of agents, on a screen or line by line. Drains nothing. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { notEmpty, wholeNumber } from '../../settings/shape.js';
import { parserOf } from '../flag-parser.js';
import { onStdoutClosed, print } from '../process/output.js';
import { addDirectoryOption, DIRECTORY_VARIABLE, directoriesOf } from '../directory-option.js';
import { StopRequest } from '../process/stop.js';
import { SORT_KEYS } from './columns.js';
import { credentialsIn } from './credentials.js';
import { INITIAL } from './keys.js';
import type { Output, TopOptions } from './outputs.js';
import type { Sample, Sampler } from './tracker.js';

const HELP = `
top observes rings: it removes no events and does not disturb a ring's consumer. Totals begin at the start of top. If a ring
wraps between two reads (20 per second), the numbers are too low, and top prints a note. With --url, top takes the numbers
from a running serve, which counts every event, or from NIXL's own Prometheus exporter. That exporter has only buckets: a
percentile in the first one shows as its bound, as in <10us.

On a terminal, h shows the keys. Elsewhere, and with --once or --json, top prints a line per agent and interval.

Examples:
  nixl-otel top --dir /dev/shm/nixl
  nixl-otel top --url http://127.0.0.1:9464 --sort p99
  nixl-otel top --dir /dev/shm/nixl --interval 10000 | tee speed.txt
  nixl-otel top --dir /dev/shm/nixl --once --json | jq .txBytesPerSecond`;

export function defineTop(command: Command): void {
  addDirectoryOption(command)
    .option('--url <url>', 'address of a running serve or of an exporter of NIXL; instead of --dir', metricsUrl)
    .option('--interval <ms>', 'time between two frames', parserOf(wholeNumber(100, 3_600_000)), 1_000)
    .option('--count <n>', 'end after this many frames', parserOf(wholeNumber(1)))
    .option('--once', 'the same as --count 1, without a screen')
    .option('--json', 'one JSON object per interval')
    .addOption(new Option('--sort <column>', 'column to sort by').choices(SORT_KEYS).default(INITIAL.sort))
    .option(
      '--filter <text>',
      'only agents with this text in their name; with * and ? a glob',
      parserOf(notEmpty('a part of a name')),
    )
    .option('--all', 'include rings without a writer')
    .addHelpText('after', HELP)
    .action((options: TopOptions) => top(options, command));
}

function metricsUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new InvalidArgumentError('Allowed: an address that begins with http:// or https://.');
  }
  try {
    credentialsIn(url);
  } catch {
    throw new InvalidArgumentError('Allowed in user and password: UTF-8, percent-encoded, so that % is %25.');
  }
  return url;
}

async function top(options: TopOptions, command: Command): Promise<void> {
  if (options.once === true && options.count !== undefined) {
    command.error('error: --once and --count exclude each other: --once is --count 1, without a screen');
  }
  if (options.all === true && options.url !== undefined) {
    command.error('error: --all and --url exclude each other: serve exports no rings without a writer');
  }
  const sampler = await samplerOf(options, command);
  const stop = new StopRequest();
  onStdoutClosed(() => stop.request());
  let output: Output | undefined;
  try {
    const most = options.once === true ? 1 : (options.count ?? Infinity);
    const nextSample = async (): Promise<Sample | undefined> =>
      stop.isRequested ? undefined : ((await Promise.race([sampler.sample(), stop.requested])) ?? undefined);
    let nextMs = performance.now() + options.interval;
    const first = await nextSample();
    if (first === undefined) return;
    // Loaded while the first interval runs.
    const [{ Tracker }, { outputOf, textOf }] = await Promise.all([import('./tracker.js'), import('./outputs.js')]);
    const tracker = new Tracker();
    let view = tracker.add(first);
    output = await outputOf(options, sampler, stop);
    let seen = view.rows.length;
    await output.show(view);
    for (let shown = 1; shown <= most; shown++) {
      await stop.pause(nextMs - performance.now());
      // Frames keep their schedule without drift. A frame that would be late by an interval is left out.
      nextMs = Math.max(nextMs + options.interval, performance.now());
      const next = await nextSample();
      if (next === undefined) break;
      view = tracker.add(next);
      seen += view.rows.length;
      if (shown === most && seen === 0) throw sampler.noAgents();
      await output.show(view);
    }
    output.close();
    // Closing the screen erased the last frame.
    if (options.count !== undefined && output.onScreen) for (const line of textOf(view, options)) print(line);
  } finally {
    output?.close();
    sampler.close();
    stop.dispose();
  }
}

async function samplerOf({ dir, url }: TopOptions, command: Command): Promise<Sampler> {
  if (url !== undefined) {
    if (dir !== undefined)
      command.error('error: --dir and --url exclude each other: with --url, serve has the directories');
    const { Scraper } = await import('./scraper.js');
    return new Scraper(url);
  }
  const directories = directoriesOf(dir);
  if (directories !== undefined) {
    const { WatchedRings } = await import('./watched-rings.js');
    return new WatchedRings(directories);
  }
  return command.error(
    `error: no directory and no address: give --dir <dir> or --url <url>, or set ${DIRECTORY_VARIABLE}`,
  );
}
