/** Names of all metrics at a real backend that receives OTLP: as serve sends them, and translated by the specification. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { translatedName } from '../../packaging/reference/prometheus-names.mjs';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { start, startTransferSource, temporaryDirectory } from '../cli/command.js';
import { fromProtobuf } from '../support/otlp-receiver.js';
import { type OtlpBackend, PATIENTLY } from './backends.js';

/** All built-in builders whose metrics need no records of a service. */
const BUILDERS = ['nixl', 'transfers', 'durations', 'events', 'custom', 'agents', 'time', 'comprehensive'];

interface Points {
  dataPoints: unknown[];
  isMonotonic?: boolean;
}

/** A metric of a push. */
interface Sent {
  name: string;
  unit?: string;
  sum?: Points;
  gauge?: Points;
  histogram?: Points;
}

function metricsIn(body: Buffer): Sent[] {
  return fromProtobuf(body).resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics),
  );
}

/** Stands before the backend, and keeps the metrics that pass. */
async function startTee(backend: OtlpBackend): Promise<{ url: string; sent: Map<string, Sent> }> {
  const sent = new Map<string, Sent>();
  const tee = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      const headers = { 'content-type': request.headers['content-type']! };
      fetch(backend.pushTo, { method: 'POST', headers, body }).then(
        ({ status }) => {
          for (const metric of metricsIn(body)) sent.set(metric.name, metric);
          response.writeHead(status).end();
        },
        () => response.destroy(), // the test has ended the backend
      );
    });
  });
  await new Promise<void>((resolve) => tee.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void tee.close());
  return { url: `http://127.0.0.1:${(tee.address() as AddressInfo).port}`, sent };
}

/** Rings with all that makes metrics: agents at work, and events that the table does not know. */
function startAgents(directory: string): void {
  startTransferSource(['--dir', directory, '--seconds', '0', '--rate', '100', '--errors', '5', '--agents', '2']);
  const writer = new RingWriter(path.join(directory, 'backend'), { wireVersion: 1, capacity: 16 });
  writer.push({ name: 'backend_retries', category: 3, value: 1 });
  writer.push({ name: 'backend_time', category: 5, value: 1 });
  writer.close();
}

export type Form = 'as sent' | 'translated';

function kindOf({ sum, gauge }: Sent): string {
  if (sum !== undefined) return sum.isMonotonic === true ? 'counter' : 'updowncounter';
  return gauge === undefined ? 'histogram' : 'gauge';
}

/** Names of the series of a metric, each with the number of its points. */
function seriesOf(metric: Sent, form: Form): string[] {
  const { name: sent, unit = '' } = metric;
  const name = form === 'translated' ? translatedName({ name: sent, kind: kindOf(metric), unit }) : sent;
  const { dataPoints } = (metric.sum ?? metric.gauge ?? metric.histogram)!;
  const suffixes = metric.histogram === undefined ? [''] : ['_count', '_sum'];
  return suffixes.map((suffix) => counted(`${name}${suffix}`, dataPoints.length));
}

/** A backend keeps the series of an agent's earlier facts for minutes: their number tells nothing. */
function counted(name: string, series: number): string {
  return /agent[._]info/.test(name) ? name : `${name} ${series}`;
}

/** Ratios that are ratios, of three agents. */
const RATIOS = ['nixl_ring_utilization_ratio 3', 'nixl_time_busy_ratio 3'];

/** Namings, and forms of their names in a backend. */
export const NAMES: [naming: string, form: Form][] = [
  ['nixl', 'as sent'],
  ['otel', 'as sent'],
  ['nixl', 'translated'],
  ['otel', 'translated'],
];

/** All series but buckets, and but the series that Prometheus makes of the resource. */
const SERIES = '{__name__=~".+", __name__!~".*_bucket|target_info"}';

/** Sends every metric of a naming to the backend, which must store it under its own name in this form. */
export async function expectOwnNames(backend: OtlpBackend, naming: string, form: Form): Promise<void> {
  const directory = temporaryDirectory();
  const { url, sent } = await startTee(backend);
  const config = path.join(temporaryDirectory(), 'config.json');
  writeFileSync(config, JSON.stringify({ naming, builders: BUILDERS }));
  startAgents(directory);
  start(['serve', '--dir', directory, '--config', config, '--exporter', 'otlp', '--export-interval', '300'], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url,
  });
  await expect.poll(() => [...sent.keys()], PATIENTLY).toContain('nixl.event.distribution');

  const expected = (): string[] => [...sent.values()].flatMap((metric) => seriesOf(metric, form)).sort();
  const stored = async (): Promise<string[]> => {
    const counts = await backend.query(`count by (__name__) (${SERIES})`);
    return counts.map(({ metric, values }) => counted(metric['__name__']!, values[0]!)).sort();
  };
  // Agents still send events of new kinds.
  await expect
    .poll(async () => {
      const [found, wanted] = [await stored(), expected()];
      return {
        extra: found.filter((one) => !wanted.includes(one)),
        absent: wanted.filter((one) => !found.includes(one)),
      };
    }, PATIENTLY)
    .toEqual({ extra: [], absent: [] });
  const names = expected().map((one) => one.split(' ')[0]);
  expect([...new Set(names)]).toEqual(names);
  if (form === 'translated') {
    expect(expected().filter((one) => one.includes('_ratio'))).toEqual(RATIOS);
  }
}
