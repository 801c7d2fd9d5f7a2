/** `nixl-otel top`: agents as they work, on a screen or line by line. Takes nothing out of a ring. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { notEmpty, wholeNumber } from '../flags.js';
import { print, whenStdoutCloses } from '../process/output.js';
import { addDirectoryOption, DIRECTORY_VARIABLE, directoriesOf } from '../ring-files.js';
import { StopRequest } from '../process/stop.js';
import { SORT_KEYS } from './columns.js';
import { INITIAL } from './keys.js';
import { loginOf, MetricsPage } from './metrics-page.js';
import { type Output, outputOf, textOf, type TopOptions } from './outputs.js';
import { Pace } from './pace.js';
import type { Source } from './totals.js';
import { Tracker } from './tracker.js';
import { WatchedRings } from './watched-rings.js';

const HELP = `
Nothing is taken out of a ring: whoever drains them notices nothing. What the rings say is counted from when this begins,
and where a ring goes round between two looks (20 a second) numbers are too low, and a note says so. With --url a running
serve is asked instead, which counts everything; NIXL's own Prometheus exporter will do, too.

On a terminal, h shows the keys. Elsewhere, and with --once or --json, there is a line per agent and interval.

Examples:
  nixl-otel top --dir /dev/shm/nixl
  nixl-otel top --url http://127.0.0.1:9464 --sort p99
  nixl-otel top --dir /dev/shm/nixl --interval 10000 | tee speed.txt
  nixl-otel top --dir /dev/shm/nixl --once --json | jq .txBytesPerSecond`;

export function addTop(program: Command): void {
  const command = addDirectoryOption(program.command('top').description('watch the agents of a directory work'));
  command
    .option('--url <url>', 'ask a running serve, or another page of its metrics, instead of looking at rings', pageUrl)
    .option('--interval <ms>', 'time between two frames', wholeNumber(100, 3_600_000), 1_000)
    .option('--count <n>', 'end after so many', wholeNumber(1))
    .option('--once', 'the same as --count 1, without a screen')
    .option('--json', 'one JSON object per interval')
    .addOption(new Option('--sort <column>', 'by what').choices(SORT_KEYS).default(INITIAL.sort))
    .option('--filter <text>', 'only agents with this in their name; with * and ? a glob', notEmpty('a part of a name'))
    .option('--all', 'rings that nobody writes, too')
    .addHelpText('after', HELP)
    .action((options: TopOptions) => top(options, command));
}

function pageUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new InvalidArgumentError('Allowed: an address that begins with http:// or https://.');
  }
  try {
    loginOf(url);
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
    command.error('error: --all and --url exclude each other: a page has only the agents that serve exports');
  }
  const source = sourceOf(options, command);
  const stop = new StopRequest();
  whenStdoutCloses(() => stop.request());
  let output: Output | undefined;
  try {
    const count = options.once === true ? 1 : (options.count ?? Infinity);
    const tracker = new Tracker();
    const pace = new Pace(options.interval, stop.requested);
    const first = await Promise.race([source.sample(), stop.requested]);
    if (first === undefined) return;
    let view = tracker.add(first);
    output = outputOf(options, source, stop);
    let seen = view.rows.length;
    await output.show(view);
    for (let shown = 0; shown < count && (await pace.next());) {
      const next = await Promise.race([source.sample(), stop.requested]);
      if (next === undefined) break;
      view = tracker.add(next);
      seen += view.rows.length;
      shown++;
      if (shown === count && seen === 0) throw source.whyNothing();
      await output.show(view);
    }
    output.close();
    // What was on the screen is gone with it.
    if (options.count !== undefined && output.onScreen) for (const line of textOf(view, options)) print(line);
  } finally {
    output?.close();
    source.close();
    stop.dispose();
  }
}

function sourceOf({ dir, url }: TopOptions, command: Command): Source {
  if (url !== undefined) {
    if (dir !== undefined) command.error('error: --dir and --url exclude each other: the page knows its rings');
    return new MetricsPage(url);
  }
  const directories = directoriesOf(dir);
  if (directories !== undefined) return new WatchedRings(directories);
  return command.error(
    `error: nothing says where the agents are: give --dir <dir> or --url <url>, or set ${DIRECTORY_VARIABLE}`,
  );
}
