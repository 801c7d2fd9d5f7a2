import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { exponentialCount } from '../../../src/ground/exponential.js';
import { SizeWatch } from '../../../src/instrumentation/sizes/size-watch.js';
import { sizesAnswer } from '../../../src/serve/api/sizes.js';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import type { AgentSizes } from '../../../src/view/sizes/direction-sizes.js';
import type { TimeLine } from '../../../src/view/sizes/time-line.js';
import { drainAll, openTestSource, temporaryDirectory } from '../../support/live.js';
import type { Way } from '../../../src/way/way.js';
import { pushAll } from '../../support/rings.js';

const FACTS = { version: '1', hostname: 'gpu-7', directories: [], globs: [], startedMs: 5 };

/** Events of a transfer of this size. */
const transfer = (bytes: number, us: number, postUs: number) => [
  { type: 7, value: BigInt(postUs) },
  { type: 6, value: BigInt(us) },
  { type: 0, value: BigInt(bytes) },
  { type: 2, value: 1n },
];

function watched(agents: Readonly<Record<string, readonly number[]>>) {
  const directory = temporaryDirectory();
  const writers = new Map<string, RingWriter>();
  /** `factor`: of the usual time, 100 us and 1 ns for each byte. */
  const send = (name: string, sizes: readonly number[], factor = 1): void => {
    const us = (bytes: number) => Math.round(factor * (100 + bytes / 1000));
    pushAll(
      writers.get(name)!,
      sizes.flatMap((bytes) => transfer(bytes, us(bytes), 50)),
    );
  };
  for (const [name, sizes] of Object.entries(agents)) {
    const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 4096 });
    writers.set(name, writer);
    send(name, sizes);
    onTestFinished(() => writer.close());
  }
  const source = openTestSource([directory]);
  drainAll(source, directory);
  const failures: unknown[] = [];
  const watch = new SizeWatch(
    (slices, wants) => source.snapshotInSlices(slices, wants),
    (error) => failures.push(error),
  );
  onTestFinished(() => {
    watch.close();
    expect(failures).toEqual([]);
  });
  const ask = async (question = {}) =>
    (await watch.read((reading, slices) => sizesAnswer(reading, FACTS, question, slices)))!;
  return { ask, watch, source, directory, send };
}

const SIZES = [4096, 65_536, 1_048_576, 2 ** 31].flatMap((bytes) => new Array<number>(30).fill(bytes));

test('has each class of each agent: since the start, and in the window', async () => {
  const { ask } = watched({ one: SIZES, idle: [] });
  const answer = await ask();
  expect(answer).toMatchObject({ api: 'nixl-otel/v1', hostname: 'gpu-7', startedMs: 5, unlisted: 0 });
  const { tx, rx } = answer.agents.find(({ name }) => name === 'one')!;
  expect(tx.classes.map(({ upToBytes, transfers, bytes }) => [upToBytes, transfers, bytes])).toEqual([
    [4096, 30, 30 * 4096],
    [65_536, 30, 30 * 65_536],
    [1_048_576, 30, 30 * 1_048_576],
    [null, 30, 30 * 2 ** 31],
  ]);
  expect(tx.classes[0]).toMatchObject({ postP50Us: 50.5, few: false });
  // The rings were drained before the watch began: its window has nothing yet, and the model is that of all transfers.
  expect(tx.recent).toEqual([]);
  expect(tx.model).toMatchObject({ kind: 'line' });
  expect(rx).toMatchObject({ classes: [], recent: [], model: { kind: 'none' } });
  expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
});

test('has the rate as a share of that of the RDMA port by which the bytes go, where there is a line', async () => {
  const { watch, source, directory, send } = watched({ one: SIZES, short: [4096] });
  const port = { name: 'mlx5_0/1', device: 'mlx5_0', gigabits: 80 };
  const tx = { kind: 'rdma', ports: [port.name], windows: 9, sure: 'certain', sinceMs: 0 } as const;
  const sizesBy = async (way: Way) => {
    const ways = { of: () => ({ tx: way }), ports: [port] };
    const { agents } = (await watch.read((reading, slices) => sizesAnswer(reading, FACTS, {}, slices, ways)))!;
    return (name: string): AgentSizes => agents.find((agent) => agent.name === name)!;
  };
  expect((await sizesBy(tx))('one').tx, 'nothing moved since the way is seen').not.toHaveProperty('portShare');
  send('one', SIZES);
  drainAll(source, directory);
  const named = await sizesBy(tx);
  expect(named('one').tx.portShare).toBeCloseTo(0.1, 2);
  expect(named('one').rx).not.toHaveProperty('portShare');
  expect(named('short').tx).not.toHaveProperty('portShare');
  expect((await sizesBy({ ...tx, sinceMs: Date.now() }))('one').tx, 'another way').not.toHaveProperty('portShare');
});

test('has distributions of one agent only if it is asked for', async () => {
  const { ask } = watched({ one: SIZES, other: [1] });
  const all = await ask();
  expect(all.agents.flatMap(({ tx }) => tx.classes).some(({ timesUs }) => timesUs !== undefined)).toBe(false);
  const { id } = all.agents.find(({ name }) => name === 'one')!;
  const [agent, ...others] = (await ask({ agent: id })).agents;
  expect(others).toEqual([]);
  for (const { timesUs, postTimesUs } of agent!.tx.classes) {
    expect([timesUs!, postTimesUs!].map(exponentialCount)).toEqual([30, 30]);
  }
  expect((await ask({ agent: 12_345 })).agents).toEqual([]);
});

test('takes what is usual in place of the past, which may have the same fault', async () => {
  const { ask, watch, source, directory, send } = watched({ a: SIZES });
  await ask(); // begins the window
  send('a', SIZES.slice(0, 90));
  drainAll(source, directory);
  const multiples = ([agent]: readonly AgentSizes[]): unknown[] => agent!.tx.recent.map((one) => one.againstEarlier);
  for (const one of multiples((await ask()).agents)) expect(one).toBeCloseTo(1, 0.5);
  const of4KiB = { upToBytes: 4096, blocks: 4, transfers: 100, meanBytes: 4096, p10: 10, p50: 10.4, p90: 11 };
  const none = { blocks: 0, bytesPerSecond: 0, flushSize: 0, classes: [] };
  const usual = { transmit: { ...none, blocks: 4, classes: [of4KiB] }, receive: none };
  const answer = await watch.read((reading, slices) =>
    sizesAnswer({ ...reading, usualOf: () => usual }, FACTS, {}, slices),
  );
  const [first, ...others] = multiples(answer!.agents) as number[];
  expect(first! / 10).toBeCloseTo(1, 0.5);
  for (const one of others) expect(one).toBeCloseTo(1, 0.5);
});

test('sets the window of each agent beside the fastest quarter of the others, and beside its own past', async () => {
  const { ask, source, directory, send } = watched({ a: SIZES, b: SIZES, c: SIZES, slow: SIZES });
  await ask(); // begins the window
  for (const name of ['a', 'b', 'c', 'slow']) send(name, SIZES.slice(0, 90), name === 'slow' ? 5 : 1);
  send('a', [4096, 2 ** 20]);
  send('a', [512]); // one transfer says nothing
  drainAll(source, directory);
  const answer = await ask();
  for (const { name, tx } of answer.agents) {
    const expected = name === 'slow' ? 5 : 1;
    const told = tx.recent.filter(({ few }) => !few);
    expect(told.map(({ upToBytes }) => upToBytes)).toEqual([4096, 65_536, 1_048_576]);
    for (const { againstPeers, againstEarlier } of told) {
      expect(againstPeers! / expected).toBeCloseTo(1, 0.5);
      expect(againstEarlier! / expected).toBeCloseTo(1, 0.5);
    }
    const [few, ...others] = tx.recent.filter((one) => one.few);
    expect(others).toEqual([]);
    if (name === 'a') expect(few).toMatchObject({ upToBytes: 1024, transfers: 1 });
    expect(few ?? {}).not.toHaveProperty('againstPeers');
    expect(tx.model).toMatchObject({ kind: 'line' });
  }
  const { id } = answer.agents.find(({ name }) => name === 'slow')!;
  const [{ tx }] = (await ask({ agent: id })).agents as [AgentSizes];
  const [own, peers] = [tx.model, tx.peersModel!] as [TimeLine, TimeLine];
  expect(own.bytesPerSecond! / 0.2e9).toBeCloseTo(1, 1);
  expect(peers.bytesPerSecond! / 1e9).toBeCloseTo(1, 1);
});

test('readings wait for the use of the one before, and end with the source', async () => {
  const { source } = watched({ one: SIZES });
  const watch = new SizeWatch(
    (slices, wants) => (source.closed ? Promise.resolve(undefined) : source.snapshotInSlices(slices, wants)),
    () => expect.unreachable(),
  );
  const order: string[] = [];
  const use = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} ends`);
  };
  await Promise.all([watch.read(use('a')), watch.read(use('b'))]);
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  source.close();
  expect(await watch.read(() => expect.unreachable())).toBeUndefined();
  watch.close();
});
