/** Time by size of real rings that top observes. */
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exponentialCount } from '../../src/ground/exponential.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { WatchedRings } from '../../src/top/watched-rings.js';
import { temporaryDirectory } from '../cli/command.js';
import { pushAll } from '../support/rings.js';

it('tells the classes of each ring since the start of top, and the distributions of one', async () => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 256 });
  const rings = new WatchedRings([directory]);
  onTestFinished(() => {
    rings.close();
    writer.close();
  });
  const transfer = [
    { type: 7, value: 2n },
    { type: 6, value: 20n },
    { type: 0, value: 4096n },
    { type: 2, value: 1n },
  ];
  for (let i = 0; i < 30; i++) pushAll(writer, transfer);
  const { agents } = rings.sample();
  const all = await rings.sizes();
  const { tx, rx } = all.agents.get(agents[0]!.id)!;
  expect(tx.classes).toMatchObject([{ upToBytes: 4096, transfers: 30, p50Us: 20, postP50Us: 2, few: false }]);
  expect(tx.classes[0]!.timesUs).toBeUndefined();
  expect(rx.classes).toEqual([]);
  const one = (await rings.sizes(agents[0]!.id)).agents.get(agents[0]!.id)!;
  expect(exponentialCount(one.tx.classes[0]!.timesUs!)).toBe(30);
  expect((await rings.sizes('ring of another')).agents.size).toBe(0);
});
