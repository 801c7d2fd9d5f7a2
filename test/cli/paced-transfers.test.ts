/** Transfers of transfer-source take the time of --bandwidth, --base-us and --post-us, and a multiple once they are slow. */
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openRing, type Ring } from '../../src/shm-bridge/ring.js';
import { startTransferSource, temporaryDirectory, until } from './command.js';

interface Transfer {
  bytes: number;
  us: number;
  postUs: number;
}

const POST_TIME = 7;

function ringIn(directory: string): Ring {
  const ring = openRing(path.join(directory, 'agent-0'));
  onTestFinished(() => ring.close());
  return ring;
}

/** Drains a ring of wire version 4: the events of a transfer follow each other, first the time of its post. */
function transfersOf(ring: Ring): Transfer[] {
  const events = ring.drain();
  return events.flatMap(({ type, value }, i) =>
    type === POST_TIME
      ? [{ bytes: Number(events[i + 2]!.value), us: Number(events[i + 1]!.value), postUs: Number(value) }]
      : [],
  );
}

const SLOW = ['--slow-after', '0', '--slow-factor'];

it.each<[flags: string[], postUs: number, us: { 4096: number; 262144: number }]>([
  [[], 200, { 4096: 500 + 39, 262144: 500 + 2500 }],
  [['--bandwidth', '100M,64k:50M'], 200, { 4096: 500 + 39, 262144: 500 + 5000 }],
  [['--slow-after', '1000', '--seconds', '1001', '--slow-factor', '40'], 200, { 4096: 539, 262144: 3000 }],
  [[...SLOW, '7'], 1400, { 4096: 7 * 539, 262144: 7 * 3000 }],
  [[...SLOW, '7,post:1'], 200, { 4096: 200 + 7 * 339, 262144: 200 + 7 * 2800 }],
  [[...SLOW, 'post:50'], 10_000, { 4096: 10_339, 262144: 12_800 }],
  [[...SLOW, 'base:50'], 200, { 4096: 15_239, 262144: 17_700 }],
  [[...SLOW, 'bandwidth:40'], 200, { 4096: 500 + 40 * 39, 262144: 500 + 40 * 2500 }],
])('take the time of %j', async (flags, postUs, us) => {
  const directory = temporaryDirectory();
  const always = ['--dir', directory, '--rate', '0', '--transfers', '40', '--sizes', '4k,256k'];
  const pace = ['--bandwidth', '100M', '--base-us', '300', '--post-us', '200'];
  expect(await startTransferSource([...always, ...pace, ...flags]).ended).toMatchObject({ code: 0, stderr: '' });
  const transfers = transfersOf(ringIn(directory));
  expect(transfers).toHaveLength(40);
  expectLeast(transfers, (one) => one.postUs, postUs);
  for (const bytes of [4096, 262144] as const) {
    const ofSize = transfers.filter((one) => one.bytes === bytes);
    expectLeast(ofSize, (one) => one.us, us[bytes]);
  }
});

/** Expects no time below the given one, and one of them near it: a busy machine delays some of them. */
function expectLeast(transfers: readonly Transfer[], timeOf: (transfer: Transfer) => number, us: number): void {
  const least = Math.min(...transfers.map(timeOf));
  expect(least).toBeGreaterThanOrEqual(us);
  expect(least).toBeLessThan(us * 3);
}

it('become slow after some time', async () => {
  const directory = temporaryDirectory();
  const pace = ['--base-us', '100', '--slow-after', '1', '--slow-factor', '1000'];
  const flags = ['--dir', directory, '--rate', '50', '--seconds', '0', '--ready', '--sizes', '4k', ...pace];
  const source = startTransferSource(flags);
  await source.says(/^ready$/m);
  const ring = ringIn(directory);
  const transfers: Transfer[] = [];
  const isSlow = ({ us }: Transfer): boolean => us >= 100_000;
  await until(() => {
    transfers.push(...transfersOf(ring));
    return transfers.length > 3 && transfers.slice(-3).every(isSlow); // a single one may have been delayed
  });
  expect(transfers.some((one) => !isSlow(one))).toBe(true);
  expect((await source.stop('SIGTERM')).code).toBe(0);
});

it.each([
  ['a signal', ['--seconds', '0', '--ready'], 0],
  ['the end of the run', ['--seconds', '0.3'], 0],
  ['restarts', ['--restart-every', '100', '--restarts', '2'], 2],
])('are given up at %s', async (_, flags, restarts) => {
  const pace = ['--rate', '0', '--sizes', '1M', '--bandwidth', '1']; // twelve days
  for (const wireVersion of ['2', '4']) {
    const directory = temporaryDirectory();
    const source = startTransferSource(['--dir', directory, '--wire-version', wireVersion, ...pace, ...flags]);
    if (flags.includes('--ready')) {
      await source.says(/^ready$/m);
      source.child.kill('SIGTERM');
    }
    const { code, stdout } = await source.ended;
    const { totals } = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
      totals: { restarts: number; transfersTx: number; events: object };
    };
    expect({ code, restarts: totals.restarts, transfers: totals.transfersTx }).toEqual({
      code: 0,
      restarts,
      transfers: 0,
    });
    expect(Object.keys(totals.events)).not.toContain('agent_xfer_time');
  }
});
