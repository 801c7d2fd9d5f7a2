/** Rings where they really lie: in memory, on a disk, and on one that is full. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { dist } from '../support/child.js';
import { drained, openTestSource, runTransferSource } from '../support/live.js';

/** What the machine has: the type of a file system, and a place on it. */
const PLACES = ['/dev/shm', tmpdir(), fileURLToPath(new URL('../../native/build', import.meta.url))]
  .filter((place) => existsSync(place))
  .map((place) => [execFileSync('stat', ['-f', '-c', '%T', place], { encoding: 'utf8' }).trim(), place] as const);

test.each([...new Map(PLACES)])('on %s: exact, and over restarts in place', async (_, place) => {
  const directory = mkdtempSync(path.join(place, 'nixl-otel-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const source = openTestSource([directory]);
  const run = (...flags: string[]) => runTransferSource(['--dir', directory, '--exact-name', '--rate', '0', ...flags]);
  const { totals } = await run('--name', 'steady', '--seconds', '1', '--copy-free');
  source.drainNow();
  expect(drained(source.snapshot())).toBe(totals.written);
  const restarts = ['--restart-every', '40', '--restarts', '20', '--restart-sizes', '4096,1024,16384'];
  const { totals: lives } = await run('--name', 'again', '--copy-free', '--flush-interval', '10', ...restarts);
  source.drainNow();
  const counted = drained(source.snapshot()) - totals.written;
  expect(counted).toBeLessThanOrEqual(lives.written);
  expect(counted).toBeGreaterThanOrEqual(lives.written - lives.wiped);
  expect(source.snapshot().agents.some(({ suspect }) => suspect)).toBe(false);
});

/** A tiny file system of its own needs the right to mount, which a container may not have. */
const mayMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

test.skipIf(!mayMount)('on a full disk: a ring that has no room is refused in words, and the others stay exact', () => {
  const program = `
    import { readdirSync, truncateSync, openSync, writeSync, writeFileSync } from 'node:fs';
    const { openSource, RingWriter } = await import(${JSON.stringify(dist('shm-bridge/index.js'))});
    const { tallyOptions } = await import(${JSON.stringify(dist('mapping/index.js'))});
    const source = openSource({ directories: ['/mnt'], tally: tallyOptions() });
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
    source.drainNow();
    const { agents } = source.snapshot();
    const sums = Object.fromEntries(agents.map(({ agent, events }) => [agent, [events[0].count, Number(events[0].sum)]]));
    console.log(JSON.stringify({ refused, full, sums }));
    source.close();`;
  const mount = 'mount -t tmpfs -o size=200k none /mnt && exec "$0" --input-type=module -e "$1"';
  const run = spawnSync('unshare', ['-m', 'sh', '-c', mount, process.execPath, program], { encoding: 'utf8' });
  expect(run.stderr).toBe('');
  expect(JSON.parse(run.stdout)).toEqual({
    refused: expect.stringContaining('No space left on device') as string,
    full: 'ENOSPC',
    sums: { before: [700, 1400], sparse: [1000, 0] },
  });
});

test('directories are polled: no limit of inotify is ever reached', () => {
  const folder = fileURLToPath(new URL('../../native', import.meta.url));
  const sources = readdirSync(folder).filter((file) => /\.(cc|h)$/.test(file));
  expect(sources.length).toBeGreaterThan(10);
  for (const file of sources) expect(readFileSync(path.join(folder, file), 'utf8')).not.toMatch(/inotify_|fanotify_/);
});
