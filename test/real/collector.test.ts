/**
 * From a real serve through a collector on the host and a gateway to a real Prometheus, exact over kill -9 of each of
 * them.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type RunningCommand,
  scrape,
  start,
  startTransferSource,
  temporaryDirectory,
  until,
  valueOf,
} from '../cli/command.js';
import { type Backend, PATIENTLY } from '../servers/backends.js';
import { TEMPORALITIES } from '../servers/otlp-sums.js';
import { Agents, storedIn, TRANSFERS } from '../servers/transfers.js';
import { startCollector, startPrintingCollector, startShippedCollector } from './collector.js';
import { allDrained } from '../support/live.js';
import { startOtlpPrometheus } from './prometheus.js';
import { provideCollector, providePrometheus } from './tools.js';

const isThere = (await provideCollector()) && (await providePrometheus());

const POD_UID = 'k8s.pod.uid';

/** Rings that keep the events of some seconds while serve is killed. */
const AT_WORK = ['--agents', '3', '--rate', '100', '--buffer-size', '65536'];

async function startServe(directory: string, endpoint: string, temporality: string) {
  const config = path.join(temporaryDirectory(), 'config.json');
  writeFileSync(config, JSON.stringify({ attributes: [{ name: POD_UID, source: 'agent', type: 'text' }] }));
  const flags = ['--config', config, '--exporter', 'otlp,prometheus', '--port', '0', '--export-interval', '500'];
  const serve = start(['serve', '--dir', directory, ...flags, '--otlp-endpoint', endpoint], {
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: temporality,
  });
  const [, page] = await serve.says(/serves (http:\S+)/);
  return { serve, counted: async () => valueOf(await scrape(page!), TRANSFERS) };
}

describe.skipIf(!isThere)('serve, collector, gateway, Prometheus', () => {
  it.each(TEMPORALITIES)('%s sums are exact over kill -9 of each', async (temporality, total) => {
    const isDelta = temporality === 'delta';
    const directory = temporaryDirectory();
    // Prometheus makes labels of the resource's attributes that it promotes.
    const backend = await startOtlpPrometheus({ promote_resource_attributes: [POD_UID] });
    const gateway = await startCollector(backend.pushTo);
    const agent = await startCollector(`${gateway.endpoint}/v1/metrics`, [POD_UID]);
    const agents = new Agents(directory);
    let { serve, counted } = await startServe(directory, agent.endpoint, temporality);
    const stored = () => storedIn(backend, total);
    const transfersStored = async () =>
      Object.entries(await stored()).reduce((sum, [name, n]) => sum + (name.endsWith(TRANSFERS) ? n : 0), 0);
    const arrived = () => expect.poll(stored, PATIENTLY).toEqual(agents.written);

    await agents.run(...AT_WORK);
    await arrived();
    await expectPods(backend, 3);

    // Prometheus and the gateway are killed at work.
    let working = await agents.start(...AT_WORK);
    for (const server of [backend.server, gateway.server]) {
      const before = await transfersStored();
      await server.stop('SIGKILL');
      const counts = await counted();
      await until(async () => (await counted()) > counts + 50);
      await server.startAgain();
      await expect.poll(transfersStored, PATIENTLY).toBeGreaterThan(before + 50);
    }
    await agents.finish(working);
    await arrived();

    // The gateway is away, and the collector is killed with all that it has accepted. serve ends when its last push is
    // accepted.
    await gateway.server.stop('SIGKILL');
    await agents.run(...AT_WORK);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    await agent.server.stop('SIGKILL');
    await gateway.server.startAgain();
    await agent.server.startAgain();
    await arrived();

    // serve is killed, and the collector while serve pushes. Deltas that have not been accepted yet would be lost: then
    // the agents pause.
    ({ serve, counted } = await startServe(directory, agent.endpoint, temporality));
    working = await agents.start(...AT_WORK);
    const first = await transfersStored();
    await expect.poll(transfersStored, PATIENTLY).toBeGreaterThan(first + 50);
    if (isDelta) await pause(working, directory, counted, transfersStored);
    await serve.stop('SIGKILL');
    ({ serve, counted } = await startServe(directory, agent.endpoint, temporality));
    if (isDelta) await pause(working, directory, counted, transfersStored);
    await agent.server.stop('SIGKILL');
    await serve.says(/exporter otlp failed/);
    await agent.server.startAgain();
    await serve.says(/exporter otlp works again/);
    working.child.kill('SIGCONT');
    await agents.finish(working);
    await arrived();
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('the shipped configuration groups by pod, and cumulative sums heal after kill -9', async () => {
    const [temporality, total] = TEMPORALITIES[0]!;
    const directory = temporaryDirectory();
    const backend = await startOtlpPrometheus({ promote_resource_attributes: [POD_UID] });
    const gateway = await startCollector(backend.pushTo);
    const agent = await startShippedCollector(gateway.grpcEndpoint);
    const agents = new Agents(directory);
    const { serve, counted } = await startServe(directory, agent.endpoint, temporality);
    const working = await agents.start(...AT_WORK);
    await until(async () => (await counted()) > 50);
    await agent.server.stop('SIGKILL');
    await serve.says(/exporter otlp failed/);
    await agent.server.startAgain();
    await agents.finish(working);
    await expect.poll(() => storedIn(backend, total), PATIENTLY).toEqual(agents.written);
    await expectPods(backend, 3);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

describe.skipIf(!(await provideCollector()))('a collector', () => {
  it.each(['http/json', 'http/protobuf', 'grpc'])('takes findings as log records by %s', async (protocol) => {
    const directory = temporaryDirectory();
    const collector = await startPrintingCollector();
    const endpoint = protocol === 'grpc' ? `http://${collector.grpcEndpoint}` : collector.endpoint;
    const flags = ['--exporter', 'otlp', '--otlp-findings', 'on', '--otlp-protocol', protocol];
    const serve = start(['serve', '--dir', directory, ...flags, '--otlp-endpoint', endpoint]);
    await serve.says(/exports from/);
    startTransferSource(['--dir', directory, '--seconds', '0', '--errors', '50']);
    // On a busy machine serve may have found something else before.
    const [record] = await collector.server.says(/LogRecord #\d+\n(?:(?!LogRecord #)[^])*Str\(failing\)[^]*?Trace ID/);
    expect(record).toContain('EventName: nixl.finding.begin');
    expect(record).toContain('SeverityText: WARN');
    expect(record).toMatch(/Body: Str\(Transfers fail: agent-0: /);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

/** Expects the pod of each agent in its series. It arrives as an attribute of the resource. */
async function expectPods(backend: Backend, count: number): Promise<void> {
  const series = await backend.query(`sum by (agent_name, k8s_pod_uid) (${TRANSFERS})`);
  const names = series.map(({ metric }) => metric['agent_name']);
  expect(series.map(({ metric }) => metric['k8s_pod_uid'])).toEqual(names);
  expect(new Set(names).size).toBe(count);
}

/** Stops the agents, and waits until all that they did has arrived. */
async function pause(
  agents: RunningCommand,
  directory: string,
  counted: () => Promise<number>,
  stored: () => Promise<number>,
): Promise<void> {
  await agents.pause();
  await allDrained(directory);
  await expect.poll(async () => (await stored()) - (await counted()), PATIENTLY).toBe(0);
}
