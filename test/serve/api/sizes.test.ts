import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { exponentialCount } from '../../../src/ground/exponential.js';
import { SizeWatch } from '../../../src/instrumentation/sizes/size-watch.js';
import { sizesAnswer } from '../../../src/serve/api/sizes.js';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import { drainAll, openTestSource, temporaryDirectory } from '../../support/live.js';
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
  for (const [name, sizes] of Object.entries(agents)) {
    const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 4096 });
    pushAll(
      writer,
      sizes.flatMap((bytes) => transfer(bytes, 100 + Math.round(bytes / 1000), 50)),
    );
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
  return { ask, source, directory };
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
