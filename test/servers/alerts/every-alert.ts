/** Every alert fires for its cause, and none for what is healthy: real serves over real rings, with the shipped rules. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../cli/command.js';
import { Authority } from '../../support/certificates.js';
import { MAY_MOUNT, smallTmpfs } from '../../support/small-tmpfs.js';
import type { AlertingFleet } from './alerting-fleet.js';
import { CALM, startAgents, starve, WITH_PAGE, withBuilder, withCertificate } from './hosts.js';
import { damage, fill, makeUnknown, openRing, takeEvent } from './ring-faults.js';
import { LIMIT, scaled } from './scaled-rules.js';

const DROPPED = 20;

/** Rings that were there before serve, and agents that work when it comes. */
async function prepareRings(directory: string) {
  fill(openRing(directory, 'late'), 1);
  fill(openRing(directory, 'nearly'), 0.85);
  openRing(directory, 'dropped').push({ type: DROPPED, value: 7 });
  const foreign = openRing(directory, 'foreign');
  foreign.push({ type: 0, value: 1 });
  const damaged = openRing(directory, 'damaged');
  damaged.push({ type: 0, value: 1 });
  await startAgents(directory, 'healthy', '--agents', '2');
  const failing = await startAgents(directory, 'failing', '--errors', '20');
  const stuck = await startAgents(directory, 'stuck');
  const killed = await startAgents(directory, 'killed');
  const ended = await startAgents(directory, 'ended');
  return { foreign, damaged, failing, stuck, killed, ended };
}

/** Hosts with one fault each. */
async function addFaultyHosts(fleet: AlertingFleet): Promise<void> {
  const unread = temporaryDirectory();
  makeUnknown(openRing(unread, 'unknown'));
  writeFileSync(path.join(unread, 'notes.txt'), 'not a ring\n'.repeat(20)); // harmless
  writeFileSync(path.join(unread, '.nixl-otel'), ''); // in place of the folder of state files
  await startAgents(unread, 'stateless');
  await fleet.add('unread', unread);

  const shared = temporaryDirectory();
  for (let i = 0; i < 2; i++) await startAgents(shared, 'twin', '--exact-name', '--unlocked');
  await fleet.add('shared', shared);

  if (MAY_MOUNT) {
    const small = smallTmpfs('64k'); // two more such rings fit
    openRing(small, 'only', 1024);
    await fleet.add('small', small, [...CALM, '--state', 'off']);
  }

  const flooded = temporaryDirectory();
  const flood = openRing(flooded, 'flood', 2 ** 18);
  for (let i = 0; i < 150_000; i++) flood.push({ type: 0, value: 1 });
  await fleet.add('builder', flooded, [...CALM, ...withBuilder()]);

  await fleet.add('export', await withAgents('pushing'), [...CALM, ...(await fleet.failing())]);
  starve(await fleet.add('starved', await withAgents('starved'), ['--drain-interval', '1']));
}

/** A host of two agents: the link of one and the posts of the other are slow after their first minute. The half of it teaches what is usual. */
async function addSlowHost(fleet: AlertingFleet): Promise<void> {
  const directory = temporaryDirectory();
  await fleet.add('slow', directory);
  const paces = { link: ['--bandwidth', '2G'], posts: ['--post-us', '500'] };
  const factors = { link: 'bandwidth:20', posts: 'post:20' };
  for (const name of ['link', 'posts'] as const) {
    const slow = ['--sizes', '64k,1M,8M', '--slow-after', '60', '--slow-factor', factors[name]];
    await startAgents(directory, name, ...paces[name], ...slow);
  }
}

async function withAgents(name: string): Promise<string> {
  const directory = temporaryDirectory();
  await startAgents(directory, name);
  return directory;
}

/** Two hosts with TLS: the certificate of the first ends in two days, and soon its web configuration cannot be read. */
async function addGuardedHosts(fleet: AlertingFleet): Promise<void> {
  const authority = new Authority();
  const short = withCertificate(authority.issue('short'));
  await fleet.add('guarded', await withAgents('guarded'), [...CALM, ...short.flags]);
  const long = withCertificate(authority.issue('long', undefined, 30));
  await fleet.add('trusted', await withAgents('trusted'), [...CALM, ...long.flags]);
  await fleet.prometheus.has('nixl_http_config_stale{instance="guarded"} == 0');
  short.breakFile();
}

export async function expectEveryAlert(fleet: AlertingFleet): Promise<void> {
  const { prometheus } = fleet;
  await fleet.add('empty', temporaryDirectory());
  // Prometheus has run before the other hosts come, so that what they lost before their first scrape is news.
  await prometheus.has(scaled('last_over_time(nixl_collector_ticks_total{instance="empty"}[4m] offset 6m)'));
  // It has waited for its first series, perhaps long enough for this alert.
  const before = (await prometheus.fired()).filter((alert) => alert === 'NixlOtelAbsent');

  const directory = temporaryDirectory();
  const rings = await prepareRings(directory);
  await fleet.add('agents', directory, [...CALM, ...WITH_PAGE]);
  await addSlowHost(fleet);
  await addFaultyHosts(fleet);
  await addGuardedHosts(fleet);
  const down = await fleet.add('down', await withAgents('drained'));
  let isSuspect = false;
  await fleet.addSuspect('suspect', await withAgents('doubtful'), () => isSuspect);

  // All work is seen before something happens to the agents.
  for (const agent of ['stuck-0', 'killed-0', 'ended-0', 'failing-0']) {
    await prometheus.has(`nixl:requests:rate5m{agent="${agent}"} > 0`);
  }
  await prometheus.has('nixl_ring_suspect{instance="suspect"} == 0');
  await prometheus.has('nixl_collector_ticks_total{instance="down"}');
  await prometheus.has(
    'sum(nixl_collector_agents{instance="agents", life=~"|unknown", nixl_agent_life=~"|unknown"}) == 0',
  );
  await rings.stuck.pause();
  onTestFinished(() => void rings.stuck.child.kill('SIGCONT'));
  await rings.killed.stop('SIGKILL');
  expect(await rings.ended.stop('SIGTERM')).toMatchObject({ code: 0 });
  const repair = damage(rings.damaged);
  const corrupt = 'state=~"|corrupt", nixl_ring_state=~"|corrupt"';
  await prometheus.has(`sum(nixl_collector_problems{instance="agents", ${corrupt}}) > 0`);
  repair();
  rings.damaged.push({ type: 0, value: 1 });
  isSuspect = true;
  await down.stop('SIGKILL');
  const firedAfterMove = () => {
    takeEvent(rings.foreign);
    return prometheus.fired();
  };
  const foreign = 'NixlForeignConsumer agents foreign';
  await expect.poll(firedAfterMove, { ...LIMIT, message: foreign }).toContain(foreign);

  const expected = [
    'NixlAgentEnded agents killed-0',
    'NixlAgentIdle agents stuck-0',
    'NixlCertificateExpires guarded',
    'NixlCollectorLate starved',
    ...(MAY_MOUNT ? ['NixlDirectoryNearlyFull small'] : []),
    'NixlErrorRatioHigh agents failing-0',
    'NixlEventsDropped agents dropped',
    'NixlEventsPassedBy builder',
    'NixlExportFailing export',
    foreign,
    'NixlNoAgents empty',
    'NixlNumbersSuspect shared twin',
    'NixlNumbersSuspect suspect doubtful-0',
    `${fleet.ended} down`,
    'NixlPostsSlow slow posts-0',
    'NixlRingFoundFull agents late',
    'NixlRingNearlyFull agents late',
    'NixlRingNearlyFull agents nearly',
    'NixlRingResynced agents damaged',
    'NixlRingShared shared twin',
    'NixlRingUnreadable unread',
    'NixlStateNotKept unread',
    'NixlTransfersSlow slow link-0',
    'NixlWebConfigStale guarded',
  ];
  await prometheus.hasFired(...expected);
  // After errors an end is an alarm at once. Others wait for a successor.
  await rings.failing.stop('SIGKILL');
  expected.push('NixlAgentEnded agents failing-0', 'NixlAgentsMissing agents');
  await prometheus.hasFired(...expected);
  const fired = await prometheus.fired();
  const known = [...expected, ...before, ...(await prometheus.timedOut()).map((host) => `NixlOtelDown ${host}`)];
  expect(fired.filter((alert) => !known.includes(alert))).toEqual([]);

  for (const { labels, annotations } of await prometheus.texts()) {
    expect(annotations['summary'], labels['alertname']).not.toContain('<no value>');
    expect(annotations['summary'], labels['alertname']).toContain(labels['agent'] ?? labels['instance']);
  }
}
