import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventTable } from './event-names.js';
import {
  allDrained,
  drainAll,
  drained,
  openTestSource,
  runTransferSource,
  sumsOf,
  temporaryDirectory,
  transferSourcePath,
  type Totals,
} from '../support/live.js';
import { WIRE_VERSIONS } from '../support/rings.js';

function written(totals: Totals) {
  return Object.fromEntries(
    Object.entries(totals.totals.events)
      .filter(([, event]) => Number(event.count) > 0)
      .map(([name, event]) => [name, { count: String(event.count), sum: event.sum }]),
  );
}

describe('a live run', () => {
  for (const wireVersion of WIRE_VERSIONS) {
    it(`is exact to the unit at NIXL's defaults, wire version ${wireVersion}`, async () => {
      const dir = temporaryDirectory();
      const source = openTestSource([dir]);
      const totals = await runTransferSource(
        [
          '--dir',
          dir,
          '--agents',
          '4',
          '--processes',
          '2',
          '--seconds',
          '0.6',
          '--rate',
          '2000',
          '--errors',
          '3',
        ].concat(['--sizes', '4k:1', '--wire-version', String(wireVersion)]),
      );
      await allDrained(dir);
      expect(sumsOf(source.snapshot(), eventTable)).toEqual(written(totals));
    });
  }

  it('is exact at the highest speed of transfer-source with rings of a million slots', async () => {
    const dir = temporaryDirectory();
    const source = openTestSource([dir]);
    const flood = [
      '--rate',
      '0',
      '--copy-free',
      '--staging',
      '0',
      '--buffer-size',
      '1048576',
      '--flush-interval',
      '10',
    ];
    const totals = await runTransferSource(['--dir', dir, '--seconds', '0.5', '--agents', '2', ...flood]);
    await allDrained(dir);
    const snapshot = source.snapshot();
    expect(totals.totals.written).toBeGreaterThan(100_000);
    expect(sumsOf(snapshot, eventTable)).toEqual(written(totals));
    expect(snapshot.agents.every((agent) => !agent.suspect)).toBe(true);
  });

  it('loses no event while the event loop is blocked for seconds and new agents appear', () => {
    const dir = temporaryDirectory();
    const source = openTestSource([dir]);
    // spawnSync blocks this thread's event loop for as long as the agents live.
    // Each agent writes some 20,000 events, more than its ring holds.
    const flags = '--seconds 1 --rate 5000 --sizes 4k:1 --buffer-size 16384';
    const script = [0, 1].map((i) => `"$0" --dir "$1" ${flags} --name wave-${i}`);
    const run = spawnSync('sh', ['-c', script.join(' && '), transferSourcePath, dir], { encoding: 'utf8' });
    expect(run.stderr).toBe('');
    const totals = run.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Totals).totals);
    drainAll(source, dir);
    expect(drained(source.snapshot())).toBe(totals.reduce((n, one) => n + one.written, 0));
    expect(totals.reduce((n, one) => n + one.refused, 0)).toBe(0);
  });

  it('counts no event twice over 60 restarts under one name with changing buffers', async () => {
    const dir = temporaryDirectory();
    const source = openTestSource([dir]);
    const restarts = ['--restart-every', '40', '--restarts', '60', '--restart-sizes', '4096,1024,16384,1024'];
    const totals = await runTransferSource(
      ['--dir', dir, '--rate', '0', '--copy-free', '--flush-interval', '10'].concat(restarts),
    );
    await allDrained(dir);
    const snapshot = source.snapshot();
    const counted = drained(snapshot);
    expect(counted).toBeLessThanOrEqual(totals.totals.written);
    expect(counted).toBeGreaterThanOrEqual(totals.totals.written - totals.totals.wiped);
    // An incarnation may end before the ring is found, or between two drains. A busy machine has more such incarnations.
    expect(snapshot.agents[0]?.restarts).toBeGreaterThanOrEqual(6);
    expect(snapshot.agents[0]?.restarts).toBeLessThanOrEqual(60);
  });

  it('holds 64 agents at once, some in a subfolder', async () => {
    const dir = temporaryDirectory();
    const source = openTestSource([dir]);
    const common = ['--dir', dir, '--seconds', '0.6', '--rate', '200', '--sizes', '4k:1'];
    const [flat, nested] = await Promise.all([
      runTransferSource([...common, '--agents', '63']),
      runTransferSource([...common, '--name', 'group/inner', '--exact-name']),
    ]);
    await allDrained(dir);
    const snapshot = source.snapshot();
    expect(snapshot.agents).toHaveLength(64);
    expect(snapshot.agents.some((agent) => agent.agent === 'group/inner')).toBe(true);
    expect(drained(snapshot)).toBe(flat.totals.written + nested.totals.written);
  });

  it('releases dead agents with their descriptors', async () => {
    const dir = temporaryDirectory();
    // An agent can end before the collector sees its process. The idle TTL releases such agents.
    const source = openTestSource([dir], { deadTtlMs: 100, idleTtlMs: 3000 });
    const before = readdirSync('/proc/self/fd').length;
    for (let i = 0; i < 3; i++) {
      await runTransferSource(['--dir', dir, '--agents', '20', '--seconds', '0.4', '--name', `fresh-${i}`]);
    }
    await expect.poll(() => source.snapshot().agents.length).toBe(0);
    await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 2);
  });
});

describe('several readers in one process', () => {
  it('agree, because snapshots consume nothing', async () => {
    const dir = temporaryDirectory();
    const [one, other] = [openTestSource([dir]), openTestSource([dir])];
    const totals = await runTransferSource(['--dir', dir, '--seconds', '0.5']);
    await allDrained(dir);
    expect(drained(one.snapshot())).toBe(totals.totals.written);
    expect(drained(other.snapshot())).toBe(totals.totals.written);
  });

  it('may be workers that load the addon alone and end first', () => {
    const dir = temporaryDirectory();
    const script = `
      import { openSource } from ${JSON.stringify(new URL('../../dist/shm-bridge/index.js', import.meta.url).href)};
      const tally = { types: [], durationBoundsUs: [], sizeBounds: [], throughputBounds: [] };
      openSource({ directories: [${JSON.stringify(dir)}], tally }).drainNow();
      process.exit(0);`;
    const main = `
      import { Worker } from 'node:worker_threads';
      for (let i = 0; i < 3; i++) {
        const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(script)})));
        await new Promise((done) => worker.once('exit', done));
      }
      console.log('ended');`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', main], { encoding: 'utf8' });
    expect([run.status, run.signal, run.stdout, run.stderr]).toEqual([0, null, 'ended\n', '']);
  });

  it('survives process.exit() at any moment', () => {
    const directory = temporaryDirectory();
    const bridge = JSON.stringify(new URL('../../dist/shm-bridge/index.js', import.meta.url).href);
    const script = `
      const { openSource } = await import(${bridge});
      openSource({ directories: [process.argv[2]], tally: { types: [], durationBoundsUs: [], sizeBounds: [], throughputBounds: [] } });
      setTimeout(() => process.exit(7), Number(process.argv[1]));`;
    for (const delay of ['0', '1', '5', '20', '60']) {
      const run = spawnSync(process.execPath, ['--input-type=module', '-e', script, delay, directory], {
        encoding: 'utf8',
      });
      expect([run.status, run.signal, run.stderr]).toEqual([7, null, '']);
    }
  });
});
