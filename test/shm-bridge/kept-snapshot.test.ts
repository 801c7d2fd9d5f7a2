/** A snapshot that is updated in place has the numbers of a new one, whatever changed. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tallyOptions } from '../../src/mapping/index.js';
import { addon } from '../../src/shm-bridge/addon.js';
import { openSource, RingWriter } from '../../src/shm-bridge/index.js';
import { copyOfAgent } from '../../src/shm-bridge/agent-words.js';
import { KeptSnapshot } from '../../src/shm-bridge/kept-snapshot.js';
import type { AgentSnapshot, Snapshot } from '../../src/shm-bridge/types.js';
import { TimeSlices } from '../../src/ground/time-slices.js';
import { temporaryDirectory } from '../support/live.js';
import { eventsFor } from '../support/rings.js';
import { until } from '../support/until.js';

afterEach(() => void vi.restoreAllMocks());

/** Rings of agents, and a source on them. */
function rings() {
  const directory = temporaryDirectory();
  const source = openSource({ directories: [directory], tally: tallyOptions(), deadTtlMs: 0 });
  onTestFinished(() => source.close());
  const reader = source.openReader();
  const write = (agent: string, wireVersion: 1 | 4 = 4): RingWriter => {
    const writer = new RingWriter(path.join(directory, agent), { wireVersion, capacity: 256 });
    onTestFinished(() => writer.close());
    return writer;
  };
  return { source, reader, write };
}

/** Returns copies. */
function plain(agents: readonly AgentSnapshot[]): unknown[] {
  const moved = { lastEventMs: 0, foundAtDrain: 0, peakFound: 0 }; // by a drain between two snapshots
  return agents.map((agent) => ({ ...copyOfAgent(agent), ...moved }));
}

it.each([true, false])('with exponential histograms: %s', async (exponential) => {
  const { source, reader, write } = rings();
  const kept = new KeptSnapshot();
  const compared = (): Snapshot => {
    source.drainNow();
    const updated = reader.snapshot({ exponential, kept });
    const fresh = reader.snapshot({ exponential }).agents;
    expect(plain(updated.agents)).toEqual(plain(fresh));
    return updated;
  };
  expect(compared().agents).toEqual([]);
  const writers = [write('a'), write('b', 1), write('c')];
  for (const [i, writer] of writers.entries()) for (const event of eventsFor(i === 1 ? 1 : 4)) writer.push(event);
  const first = compared().agents;
  expect(first).toHaveLength(3);
  const [events, sums] = [first.map((agent) => agent.events[0]!), first.map((agent) => agent.events[0]!.sum)];
  writers[0]!.push({ type: 0, value: 2n ** 63n });
  writers[1]!.push({ name: 'an event of its own', category: 5, value: 7 });
  writers[2]!.push({ type: 6, value: 2n ** 40n });
  const second = compared().agents;
  expect(second.map((agent, i) => agent === first[i] && agent.events[0] === events[i])).toEqual([true, true, true]);
  expect(second[0]!.events[0]!.sum).toBe(sums[0]! + 2n ** 63n);
  for (let i = 0; i < 100; i++) writers[0]!.push({ type: 1000 + i, value: i });
  compared();
  writers[1]!.close(); // an open one is alive
  rmSync(writers[1]!.path);
  write('d').push({ type: 1, value: 5 });
  await until(() => reader.snapshot({ exponential }).agents.every(({ agent }) => agent !== 'b'));
  expect(
    compared()
      .agents.map(({ agent }) => agent)
      .sort(),
  ).toEqual(['a', 'c', 'd']);
});

it('gives copies with counts of their own, which no later snapshot changes', () => {
  const { source, reader, write } = rings();
  const kept = new KeptSnapshot();
  const writer = write('a');
  const agentAfter = (microseconds: number): AgentSnapshot => {
    writer.push({ type: 6, value: microseconds });
    source.drainNow();
    return reader.snapshot({ kept }).agents[0]!;
  };
  const copy = copyOfAgent(agentAfter(100), true);
  const before = structuredClone(copy.events[6]!.histogram!.exponential);
  for (const microseconds of [100, 100, 90_000]) agentAfter(microseconds);
  expect(copy.events[6]!.histogram!.exponential).toEqual(before);
});

it('has the same agents until one of them changes', async () => {
  const { source, reader, write } = rings();
  const kept = new KeptSnapshot();
  const agents = (): Snapshot['agents'] => {
    source.drainNow();
    return reader.snapshot({ kept }).agents;
  };
  const [one] = [write('a'), write('b', 1)];
  one.push({ type: 0, value: 5 });
  // What the last drains found changes for some drains.
  await until(() => agents().length === 2 && agents() === agents());
  const before = agents();
  one.push({ type: 0, value: 6 });
  expect(agents()).not.toBe(before);
  expect(agents()[0]!.events[0]!.sum).toBe(11n);
  await until(() => agents() === agents());
  write('c');
  await until(() => agents().length === 3);
  expect(agents().map(({ agent }) => agent)).toEqual(['a', 'b', 'c']);
});

it('keeps its numbers while a snapshot fails half-way', () => {
  const { source, reader, write } = rings();
  const kept = new KeptSnapshot();
  const [event] = eventsFor(4);
  write('a').push(event!);
  source.drainNow();
  for (let i = 0; i < 3; i++) reader.snapshot({ kept });
  const before = plain(reader.snapshot({ kept }).agents);
  expect(before).toHaveLength(1);
  let parts = 0;
  vi.spyOn(addon(), 'continueSnapshot').mockImplementation((_, room) => {
    new Uint8Array(room).fill(0xff);
    return ++parts % 2 === 1 ? undefined : 1234;
  });
  for (let i = 0; i < 2; i++) {
    const repeated = reader.snapshot({ kept });
    expect(plain(repeated.agents)).toEqual(before);
    expect(repeated.collector.sinceTickMs).toBe(1234);
  }
});

/** Slices that end after each step. */
class ShortSlices extends TimeSlices {
  turns = 0;
  readonly #work: (turn: number) => void;

  /** `work`: other work, between two slices. */
  constructor(work: (turn: number) => void = () => {}) {
    super();
    this.#work = work;
  }

  override async turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#work(++this.turns);
  }
}

describe.each([true, false])('a snapshot in slices (updated in place: %s)', (isKept) => {
  const wantsOf = () => ({ kept: isKept ? new KeptSnapshot() : undefined });
  /** More agents than are read without a turn for other work. */
  const MANY = 70;
  const many = (write: (agent: string) => RingWriter): RingWriter[] =>
    Array.from({ length: MANY }, (_, i) => write(`agent-${i}`));

  it('has each agent once, with the numbers of a snapshot at once', async () => {
    const { source, reader, write } = rings();
    for (const [i, writer] of many(write).entries()) writer.push({ type: 0, value: i });
    source.drainNow();
    // Afterwards nothing of the agents changes.
    await until(() => reader.snapshot().agents.every(({ searched, foundAtDrain }) => searched && foundAtDrain === 0));
    const wants = wantsOf();
    for (let i = 0; i < 3; i++) {
      const slices = new ShortSlices();
      const found = await reader.snapshotInSlices(slices, wants);
      expect(plain(found!.agents)).toEqual(plain(reader.snapshot(wantsOf()).agents));
      expect(found!.agents).toHaveLength(MANY);
      expect(slices.turns).toBeGreaterThan(1);
    }
  });

  it('goes on while agents appear and end', async () => {
    const { source, reader, write } = rings();
    const writers = many(write);
    source.drainNow();
    const slices = new ShortSlices((turn) => {
      if (turn > 1) return;
      for (const { path } of writers.slice(0, 60)) rmSync(path);
      for (let i = 0; i < 10; i++) write(`new-${i}`);
      source.drainNow();
    });
    const { agents } = (await reader.snapshotInSlices(slices, wantsOf()))!;
    const names = agents.map(({ agent }) => agent);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(writers.slice(60).map(({ path: file }) => path.basename(file))));
  });

  it('is undefined if the source is closed meanwhile', async () => {
    const { source, reader, write } = rings();
    many(write);
    // A snapshot repeats the last one while a busy machine does not let the collector thread go on.
    await until(() => reader.snapshot().agents.length === MANY);
    expect(await reader.snapshotInSlices(new ShortSlices(() => source.close()), wantsOf())).toBeUndefined();
  });
});
