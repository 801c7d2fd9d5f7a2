/**
 * Each alert fires for its cause: real serves over real rings, scraped by a real Prometheus with the shipped rules. None fires
 * for what is healthy. Durations are divided (scaled-rules.ts); rules.test.ts has the cases with those of the rules.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory, until } from '../cli/command.js';
import { damage, fill, makeUnknown, openRing, takeEvent, writeTransfers } from './alerts/ring-faults.js';
import {
  CALM,
  changedPage,
  failingPushes,
  type Host,
  startAgents,
  startHost,
  startPushing,
  starve,
  withBuilder,
} from './alerts/hosts.js';
import { type AlertingBackend, LIMIT, scaled, startScaled } from './alerts/scaled-rules.js';
import { startVictoriaMetrics } from './backends.js';
import { federateJob } from './spelled-fleet.js';

const DROPPED = 20;
const SLOW_US = 3_000_000;

/** Repeats until the end of the test. */
function repeatedly(intervalMs: number, work: () => void): void {
  const timer = setInterval(work, intervalMs);
  onTestFinished(() => clearInterval(timer));
}

/** Waits until the expression has any series. */
async function has(prometheus: AlertingBackend, expression: string): Promise<void> {
  const found = async () => (await prometheus.query(expression)).length;
  await expect.poll(found, { ...LIMIT, message: expression }).toBeGreaterThan(0);
}

/** Targets of the job, which Prometheus follows. */
class Targets {
  readonly #file = path.join(temporaryDirectory(), 'targets.json');
  readonly #targets: Record<string, string> = {};
  readonly job = {
    job_name: 'nixl-otel',
    file_sd_configs: [{ files: [this.#file], refresh_interval: '1s' }],
  };

  constructor() {
    this.#write();
  }

  /** `instance`: the name that the label gets. */
  add(instance: string, target: string): void {
    this.#targets[instance] = target;
    this.#write();
  }

  remove(instance: string): void {
    delete this.#targets[instance];
    this.#write();
  }

  #write(): void {
    const groups = Object.entries(this.#targets).map(([instance, target]) => ({
      targets: [target],
      labels: { instance },
    }));
    writeFileSync(this.#file, JSON.stringify(groups));
  }
}

it('scales every duration of the rules, and no name', () => {
  expect(scaled('x:increase5m[5m] offset 5m [1h]')).toBe('x:increase5m[20000ms] offset 20000ms [240000ms]');
});

/** Rings that were there before serve, and agents that work when it comes. */
async function prepareRings(directory: string) {
  const late = openRing(directory, 'late');
  fill(late, 1);
  const nearly = openRing(directory, 'nearly');
  fill(nearly, 0.85);
  const dropped = openRing(directory, 'dropped');
  dropped.push({ type: DROPPED, value: 7 });
  const foreign = openRing(directory, 'foreign');
  foreign.push({ type: 0, value: 1 });
  const damaged = openRing(directory, 'damaged');
  damaged.push({ type: 0, value: 1 });
  const slow = openRing(directory, 'slow', 65_536);
  await startAgents(directory, 'healthy', '--agents', '2');
  await startAgents(directory, 'failing', '--errors', '20');
  const stuck = await startAgents(directory, 'stuck');
  const killed = await startAgents(directory, 'killed');
  const ended = await startAgents(directory, 'ended');
  // All writers stay open: an agent without one is of unknown life.
  return { late, nearly, dropped, foreign, damaged, slow, stuck, killed, ended };
}

it('fires for each cause, and for nothing else', { timeout: LIMIT.timeout }, async () => {
  const targets = new Targets();
  targets.add('empty', (await startHost(temporaryDirectory())).target);
  const prometheus = await startScaled([targets.job]);
  const add = async (name: string, ...how: Parameters<typeof startHost>): Promise<Host> => {
    const host = await startHost(...how);
    targets.add(name, host.target);
    return host;
  };
  // Prometheus has run before the other hosts come, so that what they lost before their first scrape is news.
  await has(prometheus, 'count_over_time(up[1h]) > 30');

  const directory = temporaryDirectory();
  const rings = await prepareRings(directory);
  await add('agents', directory);

  const unread = temporaryDirectory();
  makeUnknown(openRing(unread, 'unknown'));
  writeFileSync(path.join(unread, 'notes.txt'), 'not a ring\n'.repeat(20)); // harmless
  writeFileSync(path.join(unread, '.nixl-otel'), ''); // in place of the folder of state files
  await startAgents(unread, 'stateless');
  await add('unread', unread);

  const flooded = temporaryDirectory();
  const flood = openRing(flooded, 'flood', 2 ** 18);
  for (let i = 0; i < 150_000; i++) flood.push({ type: 0, value: 1 });
  await add('builder', flooded, [...CALM, ...withBuilder()]);

  const pushing = temporaryDirectory();
  await startAgents(pushing, 'pushing');
  await add('pushing', pushing, [...CALM, ...(await failingPushes())]);
  const starved = temporaryDirectory();
  await startAgents(starved, 'starved');
  starve((await add('starved', starved, ['--drain-interval', '1'])).serve);
  const down = temporaryDirectory();
  await startAgents(down, 'drained');
  const doomed = await add('down', down);
  let isSuspect = false;
  const suspect = await changedPage(doomed, (page) =>
    page.replace(/^(nixl_ring_suspect\{.*\}) 0$/gm, (line, series: string) => (isSuspect ? `${series} 1` : line)),
  );
  targets.add('suspect', suspect);
  repeatedly(100, () => writeTransfers(rings.slow, 10, SLOW_US));

  // All work is seen before something happens to the agents.
  for (const agent of ['stuck-0', 'killed-0', 'ended-0', 'failing-0']) {
    await has(prometheus, `rate(agent_tx_requests_num_total{agent_name="${agent}"}[10s]) > 0`);
  }
  await has(prometheus, 'nixl_collector_agents{instance="agents", life="unknown"} == 0');
  rings.stuck.child.kill('SIGSTOP');
  onTestFinished(() => void rings.stuck.child.kill('SIGCONT'));
  await rings.killed.stop('SIGKILL');
  expect(await rings.ended.stop('SIGTERM')).toMatchObject({ code: 0 });
  const repair = damage(rings.damaged);
  const state = '{instance="agents", state="corrupt"}';
  await has(prometheus, `nixl_collector_problems${state} > 0`);
  repair();
  rings.damaged.push({ type: 0, value: 1 });
  await until(() => {
    takeEvent(rings.foreign);
    return has(prometheus, 'ALERTS{alertname="NixlForeignConsumer"}').then(() => true);
  });
  isSuspect = true;
  await prometheus.hasFired('NixlNumbersSuspect suspect drained-0');
  await doomed.serve.stop('SIGKILL');

  const expected = [
    'NixlAgentEnded agents killed-0',
    'NixlAgentIdle agents stuck-0',
    'NixlCollectorLate starved',
    'NixlErrorRatioHigh agents failing-0',
    'NixlEventsDropped agents dropped',
    'NixlEventsPassedBy builder',
    'NixlExportFailing pushing',
    'NixlForeignConsumer agents foreign',
    'NixlNoAgents empty',
    'NixlNumbersSuspect suspect drained-0',
    'NixlOtelDown down',
    'NixlOtelDown suspect',
    'NixlRingFoundFull agents late',
    'NixlRingNearlyFull agents late',
    'NixlRingNearlyFull agents nearly',
    'NixlRingResynced agents damaged',
    'NixlRingUnreadable unread',
    'NixlStateNotKept unread',
    'NixlTransfersSlow agents slow',
  ];
  await expect.poll(() => prometheus.fired(), LIMIT).toEqual(expected);

  for (const { labels, annotations } of await prometheus.texts()) {
    expect(annotations['summary'], labels['alertname']).not.toContain('<no value>');
    expect(annotations['summary'], labels['alertname']).toContain(labels['agent'] ?? labels['instance']);
  }
});

it('fires if Prometheus has no serve to scrape, and not while it has one', { timeout: LIMIT.timeout }, async () => {
  const targets = new Targets();
  const prometheus = await startScaled([targets.job]);
  targets.add('host', (await startHost(temporaryDirectory())).target);
  // Longer than the alert needs.
  await has(prometheus, 'count_over_time(up{job="nixl-otel"}[1h]) > 40');
  expect(await prometheus.fired()).not.toContain('NixlOtelAbsent');
  targets.remove('host');
  await prometheus.hasFired('NixlOtelAbsent');
});

it(
  'fires for a serve that stops to push by OTLP, and not for one that goes on',
  { timeout: LIMIT.timeout },
  async () => {
    const receiver = await startVictoriaMetrics(['-opentelemetry.usePrometheusNaming']);
    const [ended, other] = [temporaryDirectory(), temporaryDirectory()];
    for (const directory of [ended, other]) await startAgents(directory, 'agent');
    const serve = startPushing(ended, 'ended', receiver.pushTo);
    startPushing(other, 'other', receiver.pushTo);
    const prometheus = await startScaled([federateJob(new URL(receiver.server.url).host)]);
    for (const instance of ['ended', 'other']) {
      await has(prometheus, `count_over_time(nixl_collector_ticks_total{instance="${instance}"}[1h]) > 5`);
    }
    await serve.stop('SIGKILL');
    await prometheus.hasFired('NixlOtelSilent ended');
    expect(await prometheus.fired()).toEqual(['NixlOtelSilent ended']);
  },
);
