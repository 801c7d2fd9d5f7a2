/** Rings on real file systems: in memory, on a disk, and on a full disk. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { ROOT, RunningCommand, scrape, until, valueOf } from '../cli/command.js';
import { dist } from '../support/child.js';
import { allDrained, drained, openTestSource, runTransferSource, transferSourcePath } from '../support/live.js';

/** File systems of the machine: the type and a folder of each. */
const PLACES = ['/dev/shm', tmpdir(), fileURLToPath(new URL('../../native/build', import.meta.url))]
  .filter((place) => existsSync(place))
  .map((place) => [execFileSync('stat', ['-f', '-c', '%T', place], { encoding: 'utf8' }).trim(), place] as const);

test.each([...new Map(PLACES)])('on %s: exact, and over restarts in place', async (_, place) => {
  const directory = mkdtempSync(path.join(place, 'nixl-otel-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const source = openTestSource([directory]);
  const run = (...flags: string[]) => runTransferSource(['--dir', directory, '--exact-name', '--rate', '0', ...flags]);
  const { totals } = await run('--name', 'steady', '--seconds', '1', '--copy-free');
  await allDrained(directory);
  expect(drained(source.snapshot())).toBe(totals.written);
  const restarts = ['--restart-every', '40', '--restarts', '20', '--restart-sizes', '4096,1024,16384'];
  const { totals: lives } = await run('--name', 'again', '--copy-free', '--flush-interval', '10', ...restarts);
  await allDrained(directory);
  const counted = drained(source.snapshot()) - totals.written;
  expect(counted).toBeLessThanOrEqual(lives.written);
  expect(counted).toBeGreaterThanOrEqual(lives.written - lives.wiped);
  expect(source.snapshot().agents.some(({ suspect }) => suspect)).toBe(false);
});

/** Returns whether the process may mount. Some containers may not: these tests are then skipped. */
const mayMount = (...mount: string[]) => spawnSync('unshare', ['-m', 'mount', ...mount, '/mnt']).status === 0;
const mayMountMemory = mayMount('-t', 'tmpfs', 'none');

/** Runs an ES module after `mount`, which mounts a file system on /mnt for this process alone. The module prints JSON. */
function runOn(mount: string, program: string): unknown {
  const script = `${mount} && exec "$0" --input-type=module -e "$1"`;
  const args = ['-m', 'sh', '-ec', script, process.execPath, program];
  const run = spawnSync('unshare', args, { encoding: 'utf8', timeout: 120_000 });
  expect(run.stderr).toBe('');
  return JSON.parse(run.stdout);
}

const IMPORTS = `
  const { inspectRing, openSource, RingWriter } = await import(${JSON.stringify(dist('shm-bridge/index.js'))});
  const { tallyOptions } = await import(${JSON.stringify(dist('mapping/index.js'))});`;
const OPEN_SOURCE = `
  const source = openSource({ directories: ['/mnt'], tally: tallyOptions() });
  const sums = () => Object.fromEntries(
    source.snapshot().agents.map(({ agent, events }) => [agent, [events[0].count, Number(events[0].sum)]]));
  const isEmpty = (file) => inspectRing('/mnt/' + file).pending === 0;
  const drainUntil = async (holds) => {
    for (source.drainNow(); !holds(); source.drainNow()) await new Promise((resolve) => setTimeout(resolve, 20));
  };`;

/** An empty ext4 in a file. */
const image = path.join(mkdtempSync(path.join(tmpdir(), 'nixl-otel-ext4-')), 'image');
afterAll(() => rmSync(path.dirname(image), { recursive: true }));
spawnSync('truncate', ['-s', '16M', image]);
const mayMountExt4 = spawnSync('mkfs.ext4', ['-q', image]).status === 0 && mayMount('-o', 'loop', image);

test.skipIf(!mayMountExt4)('on an ext4 that becomes full: exact, over restarts in place, too', () => {
  const program = `
    import { execFileSync } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    ${IMPORTS}
    ${OPEN_SOURCE}
    const run = (...flags) => {
      const args = ['--dir', '/mnt', '--exact-name', '--rate', '0', '--copy-free', '--flush-interval', '10', ...flags];
      return JSON.parse(execFileSync(${JSON.stringify(transferSourcePath)}, args, { encoding: 'utf8' }).trim().split('\\n').at(-1)).totals;
    };
    const events = (name) => source.snapshot().agents.find(({ agent }) => agent === name).events.reduce((n, e) => n + e.count, 0);
    const before = new RingWriter('/mnt/before', { wireVersion: 4, capacity: 1024 });
    const steady = run('--name', 'steady', '--seconds', '1');
    const again = run('--name', 'again', '--restart-every', '40', '--restarts', '20', '--restart-sizes', '4096,1024,16384');
    let full = '';
    for (let n = 0; full === ''; n++) {
      try { writeFileSync('/mnt/filler-' + n, Buffer.alloc(65536)); } catch (error) { full = error.code; }
    }
    for (let i = 0; i < 700; i++) before.push({ type: 0, value: 2n });
    await drainUntil(() => ['before', 'steady', 'again'].every(isEmpty));
    const suspect = source.snapshot().agents.some((agent) => agent.suspect);
    console.log(JSON.stringify({ full, before: sums().before, suspect, lost: steady.written - events('steady'),
      again: [again.written - again.wiped, events('again'), again.written] }));
    source.close();`;
  const { again, ...rest } = runOn(`mount -o loop ${image} /mnt`, program) as { again: number[] };
  expect(rest).toEqual({ full: 'ENOSPC', before: [700, 1400], suspect: false, lost: 0 });
  expect(again).toEqual([...again].sort((a, b) => a - b));
});

test.skipIf(!mayMountMemory)('on a file system that is read-only: reported once, drained when writable', () => {
  const program = `
    import { execFileSync } from 'node:child_process';
    ${IMPORTS}
    const writer = new RingWriter('/mnt/agent', { wireVersion: 4, capacity: 64 });
    for (let i = 0; i < 5; i++) writer.push({ type: 0, value: 2n });
    writer.close();
    execFileSync('mount', ['-o', 'remount,ro', '/mnt']);
    ${OPEN_SOURCE}
    await drainUntil(() => source.snapshot().problems.length > 0);
    const problems = source.snapshot().problems.map(({ state, reason }) => state + ': ' + reason);
    const then = source.snapshot().agents.length;
    execFileSync('mount', ['-o', 'remount,rw', '/mnt']);
    await drainUntil(() => source.snapshot().agents.length > 0 && isEmpty('agent'));
    console.log(JSON.stringify({ problems, then, sums: sums(), after: source.snapshot().problems }));
    source.close();`;
  expect(runOn('mount -t tmpfs none /mnt', program)).toEqual({
    problems: ['denied: cannot be opened for writing, which draining needs: Read-only file system'],
    then: 0,
    sums: { agent: [5, 10] },
    after: [],
  });
});

test.skipIf(!mayMountMemory)(
  'on a full disk: creating a ring fails with a reason, and the other rings stay exact',
  () => {
    const program = `
    import { readdirSync, truncateSync, openSync, writeSync, writeFileSync } from 'node:fs';
    ${IMPORTS}
    ${OPEN_SOURCE}
    const before = new RingWriter('/mnt/before', { wireVersion: 4, capacity: 1024 });
    // Its slots have no blocks yet, as an agent of NIXL's leaves them.
    new RingWriter('/mnt/sparse', { wireVersion: 4, capacity: 2 }).close();
    const sparse = openSync('/mnt/sparse', 'r+');
    const word = (at, value) => writeSync(sparse, new BigUint64Array([value]), 0, 8, at);
    truncateSync('/mnt/sparse', 40 + 16 * 1024);
    word(24, 1024n);
    word(32, 1023n);
    let refused = '';
    try { new RingWriter('/mnt/late', { wireVersion: 4, capacity: 65536 }); } catch (error) { refused = error.message; }
    let full = '';
    for (let n = 0; full === ''; n++) {
      try { writeFileSync('/mnt/filler-' + n, Buffer.alloc(4096)); } catch (error) { full = error.code; }
    }
    for (let i = 0; i < 700; i++) before.push({ type: 0, value: 2n });
    word(0, 1000n);
    await drainUntil(() => ['before', 'sparse'].every(isEmpty));
    console.log(JSON.stringify({ refused, full, sums: sums() }));
    source.close();`;
    expect(runOn('mount -t tmpfs -o size=200k none /mnt', program)).toEqual({
      refused: expect.stringContaining('No space left on device') as string,
      full: 'ENOSPC',
      sums: { before: [700, 1400], sparse: [1000, 0] },
    });
  },
);

/** Arguments of unshare: a program runs in a separate user namespace, which permits no inotify instances. */
const NO_INOTIFY = ['-Ur', 'sh', '-ec', 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$@"', 'sh'];
const mayLimit = spawnSync('unshare', [...NO_INOTIFY, 'true']).status === 0;

test.for<[name: string, limit: string[], instances: number]>([
  ['without inotify instances: finds rings, because directories are polled', NO_INOTIFY, 0],
  ['with inotify: watches an empty directory', [], 1],
])('%s', async ([, limit, instances], { skip }) => {
  skip(limit.length > 0 && !mayLimit);
  const directory = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'nixl-otel-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [program, ...flags] = [...(limit.length > 0 ? ['unshare', ...limit] : []), process.execPath] as [string];
  const args = [...flags, path.join(ROOT, 'dist/cli/main.js'), 'serve', '--dir', directory, '--port', '0'];
  const serve = new RunningCommand(program, args);
  const [url] = await serve.says(/http:\S+metrics/);
  const descriptors = `/proc/${serve.child.pid}/fd`;
  const open = () => readdirSync(descriptors).map((fd) => readlinkSync(path.join(descriptors, fd)));
  const watches = () => open().filter((file) => file.includes('inotify')).length;
  await until(() => Promise.resolve(watches() >= instances));
  const writer = new RingWriter(path.join(directory, 'late'), { wireVersion: 4, capacity: 64 });
  for (let i = 0; i < 5; i++) writer.push({ type: 0, value: 2n });
  await until(async () => valueOf(await scrape(url), 'agent_tx_bytes_total') === 10);
  const files = [path.join(directory, '.nixl-otel/late'), path.join(directory, 'late')];
  expect(
    open()
      .filter((file) => file.includes('late'))
      .sort(),
  ).toEqual(files);
  expect(watches()).toBe(instances);
  expect((await serve.stop()).code).toBe(0);
});
