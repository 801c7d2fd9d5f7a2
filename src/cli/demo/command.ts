/** `nixl-otel demo`: serve with two agents that move memory on this machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { resolve } from '../../settings/resolve.js';
import { ALL_SERVE_ROWS, givenFlags, serveSettings, type ServeSettings } from '../../settings/serve-rows.js';
import { settingsFrom, withSource } from '../../settings/settings.js';
import { wholeNumber } from '../../settings/shape.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import { Failure, orFailure } from '../../process/failure.js';
import { parserOf } from '../../process/flag-parser.js';
import { addFlags } from '../flags.js';
import { print, onStdoutClosed } from '../../process/output.js';
import { numberText } from '../../ground/figures/figure.js';
import type { MetricsPipeline } from '../../serve/pipeline.js';
import { StopRequest } from '../../process/stop.js';
import { countedEvents, rateLine } from './rate-line.js';
import { TransferSource, type TransferTotals } from './transfer-source.js';

const { host, port, naming, nixlRelease, nixlLabels, page, drainIntervalMs } = ALL_SERVE_ROWS;

interface DemoOptions extends Partial<ServeSettings> {
  /** Milliseconds. */
  interval: number;
}

const HELP = `
Starts two agents that copy memory, each at up to 1 GiB/s, and write telemetry rings into a temporary directory, attaches
to the rings, serves the metrics and prints a line of rates until Ctrl-C. The directory is removed at the end.`;

export function defineDemo(command: Command): void {
  addFlags(command, { host, port, naming, nixlRelease, nixlLabels, page, drainIntervalMs }, { variables: false })
    .option('--interval <ms>', 'time between two lines of rates', parserOf(wholeNumber(100, 3_600_000)), 3_000)
    .addHelpText('after', HELP)
    .action(demo);
}

async function demo(options: DemoOptions): Promise<void> {
  const stop = new StopRequest();
  onStdoutClosed(() => stop.request());
  const directory = await orFailure('no temporary directory can be created', () =>
    mkdtempSync(path.join(tmpdir(), 'nixl-otel-demo-')),
  );
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove); // the second signal ends the process at once
  try {
    const { interval: intervalMs, ...flags } = options;
    // Variables are meant for real agents, so the demo reads none. No later process reads this directory: no state files.
    const given = givenFlags({ ...flags, dir: [directory], state: 'off' });
    const resolved = resolve(ALL_SERVE_ROWS, { given, givenBy: 'flag', environment: {} });
    const settings = serveSettings(resolved);
    const rings = withSource(settingsFrom(resolved, undefined));
    const { whileServing } = await import('../../serve/serving.js');
    const { publishPage } = await import('../../page/routes.js');
    await whileServing(settings, rings, true, publishPage, async ({ pipeline, urls: [url] }) => {
      const source = new TransferSource(directory);
      try {
        await source.ready;
        print(`Two agents are moving memory; their rings are in ${directory}`);
        if (settings.page === 'on') print(`Live page: ${new URL('/', url).href}`);
        print(`Metrics: ${url}`);
        print('Ctrl-C ends the demo.');
        await printRates(pipeline, source, stop, intervalMs);
      } finally {
        source.kill();
      }
    });
  } finally {
    remove();
    process.off('exit', remove);
    stop.dispose();
  }
}

/** Prints rates until a stop is requested, and then totals. */
async function printRates(pipeline: MetricsPipeline, source: TransferSource, stop: StopRequest, intervalMs: number) {
  let before = pipeline.read();
  const timer = setInterval(() => {
    const now = pipeline.read();
    if (now === undefined) return;
    print(rateLine(before, now));
    before = now;
  }, intervalMs);
  const isEarly = await Promise.race([source.ended.then(() => true), stop.requested.then(() => false)]);
  clearInterval(timer);
  if (isEarly) throw new Failure('transfer-source ended unexpectedly');
  const totals = await source.stop();
  const last = pipeline.read();
  if (totals !== undefined && last !== undefined) print(summary(totals, last));
}

/** Compares the events that the agents wrote with those that were counted. Unequal numbers are a bug. */
function summary({ written, transfersTx, transfersRx }: TransferTotals, counted: Snapshot): string {
  const transfers = numberText(transfersTx + transfersRx);
  return `${transfers} transfers; events written by the agents: ${numberText(written)}, counted: ${numberText(countedEvents(counted))}`;
}
