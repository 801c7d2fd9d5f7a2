/** `nixl-otel top`: live rates of agents, on a screen or line by line. Drains nothing. */
import { type Command, Option } from 'commander';
import { notEmpty, wholeNumber } from '../../settings/shape.js';
import { parserOf } from '../../process/flag-parser.js';
import { onStdoutClosed, print } from '../../process/output.js';
import { addClientOptions, clientAccess, clientFlags } from '../../view/client/client-options.js';
import { addDirectoryOption, DIRECTORY_VARIABLE, directoriesOf } from '../directory-option.js';
import { StopRequest } from '../../process/stop.js';
import { SORT_KEYS } from '../../top/columns.js';
import type { TopOptions } from '../../top/options.js';
import type { TopOutput } from '../../top/outputs.js';
import { DEFAULT_INTERVAL_MS, INTERVAL_MS, Pace } from '../../top/pace.js';
import { KEYS } from '../../top/screen/help.js';
import type { FleetView, SampleSource } from '../../top/tracker.js';

const HELP = `
top observes rings: it removes no events and does not disturb a ring's consumer. Totals begin at the start of top. If a ring
wraps between two reads (20 per second), the numbers are too low, and top prints a note. With --url, top takes the numbers
from a running serve, which counts every event, or from NIXL's own Prometheus exporter. That exporter has only buckets: a
percentile in the first one shows as its bound, as in <10 µs.

--url given several times shows one table of all hosts. An address without http:// and without a port has port 9464. On a
terminal, the graphs begin with what serve has recorded in the last minutes.

A serve with a web configuration may ask for --cert and --key, or for --user. The password is never a flag, because other users
of the machine can see flags.

On a terminal top has a screen; h shows the keys. Elsewhere, and with --once or --json, top prints a line per agent and
interval.

The screen remembers what keys choose: order, interval, totals, rings without a writer, graphs, distributions and mouse, but no
filter. When it ends, it writes them to ~/.config/nixl-otel/top.json, or to nixl-otel/top.json in XDG_CONFIG_HOME. A flag
overrides them.

Keys:
${KEYS.join('\n')}

Examples:
  nixl-otel top --dir /dev/shm/nixl
  nixl-otel top --url gpu-node-17 --url gpu-node-18:9000 --sort p99
  nixl-otel top --dir /dev/shm/nixl --interval 10000 | tee speed.txt
  nixl-otel top --dir /dev/shm/nixl --once --json | jq .txBytesPerSecond`;

export function defineTop(command: Command): void {
  addClientOptions(addDirectoryOption(command))
    .option(
      '--url <url>',
      'address of a running serve or of an exporter of NIXL, as gpu-node-17:9464 or unix:/path; may be repeated; instead of --dir',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .option(
      '--interval <ms>',
      'time between two frames; default: 1000, on a terminal the remembered one',
      parserOf(INTERVAL_MS),
    )
    .option('--count <n>', 'end after this many frames', parserOf(wholeNumber(1)))
    .option('--once', 'the same as --count 1, without a screen')
    .option('--json', 'one JSON object per interval')
    .addOption(
      new Option(
        '--sort <column>',
        'column to sort by; default: on a terminal the remembered column, or agent with problems first if none is remembered; elsewhere rate',
      ).choices(SORT_KEYS),
    )
    .option(
      '--filter <text>',
      'only agents with this text in their name; ? is any character; with * a glob of the whole name',
      parserOf(notEmpty('a part of a name')),
    )
    .option('--all', 'include rings without a writer')
    .option('--no-mouse', 'leave the mouse to the terminal; key m switches it, too')
    .option('--no-remember', 'neither use nor keep what keys choose')
    .addHelpText('after', HELP)
    .action((options: TopOptions) => top(options, command));
}

async function top(options: TopOptions, command: Command): Promise<void> {
  const exclude = (one: string, other: string, reason: string): never =>
    command.error(`error: --${one} and --${other} exclude each other: ${reason}`);
  const { once = false, json = false, all = false, count, url, mouse } = options;
  if (once && count !== undefined) exclude('once', 'count', '--once is --count 1, without a screen');
  if (!mouse && (json || once)) exclude('no-mouse', json ? 'json' : 'once', 'there is no screen');
  if (all && url !== undefined) exclude('all', 'url', 'serve exports no rings without a writer');
  const source = await sourceOf(options, command);
  const stop = new StopRequest();
  onStdoutClosed(() => stop.request());
  let output: TopOutput | undefined;
  try {
    const most = once ? 1 : (count ?? Infinity);
    const nextView = async (): Promise<FleetView | undefined> =>
      stop.isRequested ? undefined : ((await Promise.race([source.view(), stop.requested])) ?? undefined);
    const pace = new Pace(options.interval ?? DEFAULT_INTERVAL_MS, stop);
    let view = await nextView();
    if (view === undefined) return;
    // Loaded while the first interval runs.
    const { outputOf, tableText } = await import('../../top/outputs.js');
    output = await outputOf(options, source, pace, stop);
    let seen = view.rows.length;
    await output.show(view);
    for (let shown = 1; shown <= most; shown++) {
      await pace.wait();
      const next = await nextView();
      if (next === undefined) break;
      view = next;
      seen += view.rows.length;
      if (shown === most && seen === 0) throw source.noAgents();
      await output.show(view);
    }
    output.close();
    // Closing the screen erased the last frame.
    if (count !== undefined && output.onScreen) for (const line of tableText(view, options)) print(line);
  } finally {
    output?.close();
    source.close();
    stop.dispose();
  }
}

async function sourceOf(options: TopOptions, command: Command): Promise<SampleSource> {
  const { dir, url } = options;
  if (url !== undefined) {
    if (dir !== undefined)
      command.error('error: --dir and --url exclude each other: with --url, serve has the directories');
    const [{ Scraper }, { serverAddresses }] = await Promise.all([
      import('../../top/scraper.js'),
      import('../url-option.js'),
    ]);
    const addresses = serverAddresses(url, command);
    const access = clientAccess(options, addresses, command);
    const hosts = addresses.map((one) => {
      return { name: one.name, source: new Scraper(one, access, clientFlags(options, one)) };
    });
    if (hosts.length === 1) return hosts[0]!.source;
    const { Hosts } = await import('../../top/hosts.js');
    return new Hosts(hosts);
  }
  clientAccess(options, [], command);
  const directories = directoriesOf(dir);
  if (directories !== undefined) {
    const { WatchedRings } = await import('../../top/watched-rings.js');
    return new WatchedRings(directories);
  }
  return command.error(
    `error: no directory and no address: give --dir <dir> or --url <url>, or set ${DIRECTORY_VARIABLE}`,
  );
}
