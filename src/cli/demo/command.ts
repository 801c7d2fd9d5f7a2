/** `nixl-otel demo`: the whole way, from memory that really moves to a page of metrics, on this machine alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { producerSettings } from '../../settings/config.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import { Failure, orFailure } from '../process/failure.js';
import { addServingOptions, type ServingOptions, wholeNumber } from '../options.js';
import { print, whenStdoutCloses } from '../process/output.js';
import { amount, countedEvents, rateLine } from '../figures/rates.js';
import type { MetricsPipeline } from '../serve/pipeline.js';
import type { Serving } from '../serve/serving.js';
import { settingsOf } from '../serve/settings.js';
import { StopRequest } from '../process/stop.js';
import { TransferSource, type TransferTotals } from './transfer-source.js';

interface DemoOptions extends ServingOptions {
  /** Milliseconds. */
  interval: number;
}

const HELP = `
Starts two agents that copy memory and write telemetry rings into a temporary directory, attaches to the rings, serves
the metrics and prints a line of rates until Ctrl-C. The directory is removed at the end.`;

export function addDemo(program: Command): void {
  const command = program
    .command('demo')
    .description('show it all with two agents on this machine; needs no GPU and no NIXL');
  addServingOptions(command)
    .option('--interval <ms>', 'time between two lines of rates', wholeNumber(100, 3_600_000), 3_000)
    .addHelpText('after', HELP)
    .action(demo);
}

async function demo(options: DemoOptions): Promise<void> {
  const stop = new StopRequest();
  whenStdoutCloses(() => stop.request());
  const directory = await orFailure('no temporary directory can be made', () =>
    mkdtempSync(path.join(tmpdir(), 'nixl-otel-demo-')),
  );
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove); // for the second signal, which waits for nothing
  try {
    const { interval: intervalMs, ...flags } = options;
    // The same in every environment: what is set there is for real agents.
    const settings = settingsOf({ ...flags, dir: [directory] }, {});
    const { naming, drainInterval: drainIntervalMs } = settings;
    const { nixlRelease, nixlLabels } = flags;
    const ofNixl = { ...(nixlRelease && { nixlRelease }), ...(nixlLabels && { nixlLabels }) };
    const rings = producerSettings({ directories: [directory], naming, ...ofNixl, drainIntervalMs }, {});
    const work = ({ pipeline, url }: Serving): Promise<void> =>
      watchAgents({ directory, pipeline, url: url!, page: settings.page, stop, intervalMs });
    const { whileServing } = await import('../serve/serving.js');
    await whileServing(settings, rings, true, work);
  } finally {
    remove();
    process.off('exit', remove);
    stop.dispose();
  }
}

interface Watch {
  directory: string;
  pipeline: MetricsPipeline;
  url: string;
  page: 'on' | 'off';
  stop: StopRequest;
  intervalMs: number;
}

async function watchAgents({ directory, pipeline, url, page, stop, intervalMs }: Watch): Promise<void> {
  const source = new TransferSource(directory);
  const kill = (): void => source.kill();
  process.once('exit', kill);
  try {
    await source.ready;
    print(`Two agents are moving memory; their rings are in ${directory}`);
    if (page === 'on') print(`Live page: ${new URL('/', url).href}`);
    print(`Metrics: ${url}`);
    print('Ctrl-C ends it.');
    const stopPrinting = printRates(pipeline, intervalMs);
    const early = await Promise.race([source.ended.then(() => true), stop.requested.then(() => false)]);
    stopPrinting();
    if (early) throw new Failure('transfer-source ended by itself');
    const totals = await source.stop();
    const last = pipeline.read();
    if (totals !== undefined && last !== undefined) print(summary(totals, last));
  } finally {
    source.kill();
    process.off('exit', kill);
  }
}

/** @returns a function that ends it. */
function printRates(pipeline: MetricsPipeline, intervalMs: number): () => void {
  let before = pipeline.read();
  const timer = setInterval(() => {
    const now = pipeline.read();
    if (now === undefined) return;
    print(rateLine(before, now));
    before = now;
  }, intervalMs);
  return () => clearInterval(timer);
}

/** What the agents say they wrote beside what was counted here: the two are the same, or something is wrong. */
function summary({ written, transfersTx, transfersRx }: TransferTotals, counted: Snapshot): string {
  const transfers = amount(transfersTx + transfersRx);
  return `${transfers} transfers; events written by the agents: ${amount(written)}, counted: ${amount(countedEvents(counted))}`;
}
