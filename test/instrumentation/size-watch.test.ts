import { expect, test, vi, onTestFinished } from 'vitest';
import type { AgentSnapshot, SizeClassTally } from '../../src/ground/tally.js';
import type { SlowFinding } from '../../src/instrumentation/sizes/slow-listeners.js';
import { SizeWatch } from '../../src/instrumentation/sizes/size-watch.js';
import type { Snapshot } from '../../src/shm-bridge/types.js';
import { exponentialTally } from '../support/exponential.js';

const SIZES = [2 ** 14, 2 ** 17, 2 ** 20];
const NONE = { classes: [], endedInPost: 0, flushSquares: 0n };

/** A source whose one agent receives six transfers of each size a second: each takes `timeUs`, and posting a fifth of it. */
function source() {
  const times: number[] = [];
  const snapshot = (): Snapshot => {
    const exponential = exponentialTally(times);
    const post = exponentialTally(times.map((us) => us / 5));
    const classes = SIZES.map((bytes): SizeClassTally => ({
      upToBytes: bytes,
      count: times.length,
      bytes: BigInt(bytes * times.length),
      duration: { sum: BigInt(times.reduce((sum, us) => sum + us, 0)), exponential },
      post: { sum: 0n, exponential: post },
    }));
    const timeBySize = { transmit: NONE, receive: { ...NONE, classes: times.length === 0 ? [] : classes } };
    const agent = { id: 1, agent: 'prefill', path: '/prefill', exported: true, timeBySize } as unknown as AgentSnapshot;
    return { takenMs: Date.now(), collector: { ticks: times.length }, agents: [agent] } as unknown as Snapshot;
  };
  return { snapshot, times };
}

/** Watches the source in virtual time. */
function watched() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { snapshot, times } = source();
  const failures: string[] = [];
  const watch = new SizeWatch(
    () => Promise.resolve(snapshot()),
    (error) => void failures.push(String(error)),
  );
  onTestFinished(() => watch.close());
  const move = async (seconds: number, timeUs: number): Promise<void> => {
    for (let s = 0; s < seconds; s++) {
      for (let i = 0; i < 6; i++) times.push(timeUs);
      await vi.advanceTimersByTimeAsync(1000);
    }
  };
  return { watch, move, failures };
}

test('tells how many times as long as usual transfers and posts of the same size take', async () => {
  const { watch, move } = watched();
  const numbers = () => watch.models.get(1)?.receive;
  await move(20, 100);
  expect(numbers()?.slowdown).toBeUndefined();
  await move(100, 100);
  expect(numbers()?.slowdown).toBeCloseTo(1, 1);
  await move(60, 300);
  expect(numbers()?.slowdown).toBeCloseTo(3, 0);
  expect(numbers()?.postSlowdown).toBeCloseTo(3, 0);
  expect(watch.models.get(1)?.transmit).toBeUndefined();
});

test('finds what is slow', async () => {
  const { watch, move, failures } = watched();
  await move(120, 100);
  expect(watch.judge.facts).toEqual([]);
  await move(30, 2000);
  expect(watch.judge.facts).toMatchObject([{ kind: 'slow-posts', name: 'prefill', direction: 'receive' }]);
  expect(failures).toEqual([]);
});

test('calls listeners when what is found changes, and none that was removed', async () => {
  const { watch, move, failures } = watched();
  const [heard, removed]: SlowFinding[][][] = [[], []];
  const listener = (findings: readonly SlowFinding[]) => void removed!.push([...findings]);
  watch.listeners.add((findings) => void heard!.push([...findings]));
  watch.listeners.add(listener);
  watch.listeners.remove(listener);
  watch.listeners.add(() => {
    throw new Error('of a listener');
  });
  await move(120, 100);
  expect(heard).toEqual([]);
  await move(60, 2000);
  expect(heard).toMatchObject([[{ kind: 'slow-posts', agents: ['prefill'] }]]);
  expect(heard![0]![0]!.sentence).toMatch(/^prefill: posts \(rx\) take 20 times as long as usual since \d\d:\d\d:\d\d/);
  await move(120, 100);
  expect(heard!.slice(1)).toEqual([[]]);
  expect(removed).toEqual([]);
  expect(failures).toEqual(['Error: of a listener', 'Error: of a listener']);
});
