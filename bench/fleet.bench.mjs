/**
 * Hosts that push to a gateway: ten serve processes, each with its agents, and a real OpenTelemetry Collector. Hosts
 * share nothing, so that the cost of a push is the same for more of them: the last columns are computed from it.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { collectorProgram, Gateway } from './support/collector.mjs';
import { Command } from './support/command.mjs';
import { inDirectory, round, sleep } from './support/measure.mjs';
import { Meter } from './support/meter.mjs';
import { pushTransfers, writersIn } from './support/transfers.mjs';

export const title =
  'ten hosts with 8 agents each push to a collector; 10,000 hosts that push every 60 s are extrapolated';

const HOSTS = 10;
process.setMaxListeners(2 * HOSTS); // each program ends with this one
const AGENTS = 8;
const EXPORT_INTERVAL_MS = 1000;
const MANY_HOSTS = 10_000;
const MANY_INTERVAL_MS = 60_000;
const SERIES = ['standard', 'nixl'];
const HISTOGRAMS = ['explicit', 'exponential'];

export async function run({ quick }) {
  const program = collectorProgram();
  if (program === undefined) {
    console.error('fleet: skipped: there is no collector; npm run test:real builds it, or COLLECTOR names one');
    return [];
  }
  const rows = [];
  for (const series of quick ? ['standard'] : SERIES) {
    for (const histograms of quick ? ['explicit'] : HISTOGRAMS) {
      const flags = ['--series', series, '--histograms', histograms];
      rows.push({ series, histograms, ...(await measured(program, flags, quick ? 2 : 20)) });
    }
  }
  return rows;
}

/** Costs of a push, over that many pushes of each host. */
function measured(program, flags, pushes) {
  return inDirectory(async (directory) => {
    const gateway = await Gateway.start(program);
    const meter = await Meter.start(gateway.endpoint);
    const hosts = Array.from({ length: HOSTS }, (_, i) => path.join(directory, `host-${i}`)).map((rings) => {
      mkdirSync(rings);
      return { writers: writersIn(rings, AGENTS), serve: startServe(rings, meter.endpoint, flags) };
    });
    let turn = 0;
    const untilPushes = async (count) => {
      while (meter.pushes < count) {
        for (const { writers } of hosts) for (const writer of writers) pushTransfers(writer, 40, ++turn);
        for (const { serve } of hosts) serve.mustRun();
        await sleep(EXPORT_INTERVAL_MS / 5);
      }
    };
    try {
      await untilPushes(3 * HOSTS); // all agents are found, and the collector is warm
      const before = { ...meter.counts, cpuMs: gateway.cpuMs() };
      await untilPushes(before.pushes + HOSTS * pushes);
      const count = meter.pushes - before.pushes;
      return {
        bytes: (meter.bytes - before.bytes) / count / AGENTS,
        gzipBytes: (meter.gzipBytes - before.gzipBytes) / count / AGENTS,
        cpuMs: (gateway.cpuMs() - before.cpuMs) / count,
        rssMiB: gateway.rssMiB(),
      };
    } finally {
      for (const { writers, serve } of hosts) {
        await serve.stop();
        for (const writer of writers) writer.close();
      }
      meter.stop();
      await gateway.stop();
    }
  });
}

function startServe(rings, endpoint, flags) {
  const pushes = ['--exporter', 'otlp', '--otlp-endpoint', endpoint, '--export-interval', String(EXPORT_INTERVAL_MS)];
  return Command.nixlOtel('serve', '--dir', rings, ...pushes, ...flags);
}

export function caseOf({ series, histograms }) {
  return `--series ${series}, ${histograms}`;
}

export function columnsOf({ bytes, gzipBytes, cpuMs, rssMiB }) {
  const pushesPerSecond = (MANY_HOSTS * 1000) / MANY_INTERVAL_MS;
  const bytesPerSecond = AGENTS * pushesPerSecond;
  return {
    'agent, kB': round(bytes / 1000),
    'agent gzip, kB': round(gzipBytes / 1000),
    'CPU of a push, ms': round(cpuMs),
    'RSS, MiB': round(rssMiB, 0),
    '10,000 hosts: cores': round((cpuMs * pushesPerSecond) / 1000),
    'MB/s': round((bytes * bytesPerSecond) / 1e6, 1),
    'gzip, MB/s': round((gzipBytes * bytesPerSecond) / 1e6, 1),
  };
}
