/** State files through the bridge: sums, texts and times that the next source continues. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tallyOptions } from '../../src/mapping/index.js';
import { openSource, readState, type RingSource, RingWriter } from '../../src/shm-bridge/index.js';
import type { AgentSnapshot, SourceOptions } from '../../src/shm-bridge/types.js';
import { temporaryDirectory } from '../support/live.js';
import { until } from '../support/until.js';

const XFER_TIME = 6;

/** A directory with one ring whose writer is this process. */
class OneAgent {
  readonly directory = temporaryDirectory();
  readonly path = path.join(this.directory, 'agent');
  readonly folder = path.join(this.directory, '.nixl-otel');
  readonly #writer = new RingWriter(this.path, { wireVersion: 4, capacity: 64 });

  constructor() {
    onTestFinished(() => this.#writer.close());
  }

  push(...durationsUs: bigint[]): void {
    for (const value of durationsUs) expect(this.#writer.push({ type: XFER_TIME, value })).toBe(true);
  }

  open(options: Partial<SourceOptions> = {}): RingSource {
    const source = openSource({ directories: [this.directory], tally: tallyOptions(), state: true, ...options });
    onTestFinished(() => source.close());
    return source;
  }
}

const times = (agent: AgentSnapshot | undefined): { count?: number; sum?: bigint } => agent?.events[XFER_TIME] ?? {};

/** Waits until the source has counted so many durations, and returns its agent. */
async function counted(source: RingSource, count: number): Promise<AgentSnapshot> {
  return until(() => {
    source.drainNow();
    const [agent] = source.snapshot().agents;
    return times(agent).count === count && agent!;
  });
}

test('the next source continues sums, start time and attributes', async () => {
  const ring = new OneAgent();
  ring.push(3n, 5n);
  const first = ring.open();
  const before = await counted(first, 2);
  expect(before).toMatchObject({ recovered: false, restarts: 0 });
  expect(before.keptAttributes).toBeUndefined();
  expect(first.recoveredCounts(before.id)).toBeUndefined();
  first.keepAttributes(before.id, '{"rank":"7é"}');
  ring.push(7n);
  await counted(first, 3);
  first.close();

  ring.push(11n);
  const second = ring.open();
  const after = await counted(second, 4);
  expect(times(after).sum).toBe(26n);
  expect(after).toMatchObject({ recovered: true, keptAttributes: '{"rank":"7é"}', restarts: 0, suspect: false });
  expect(after.startTimeMs).toBe(before.startTimeMs);
  expect(after.id).not.toBe(before.id);
  const recovered = second.recoveredCounts(after.id)!;
  expect(recovered.events[XFER_TIME]).toMatchObject({ count: 3, sum: 15n });
  expect(recovered).toMatchObject({
    restarts: 0,
    foundFull: 0,
    foundFullMs: 0,
    resyncs: 0,
    foreignMoves: 0,
    refused: 0,
  });
  expect(recovered.events[XFER_TIME]!.histogram!.counts.reduce((sum, n) => sum + n)).toBe(3);
  expect(second.snapshot().stateProblems).toEqual([]);
  second.keepAttributes(after.id, '');
  ring.push(1n);
  await counted(second, 5);
  second.close();
  ring.push(1n);
  const third = ring.open();
  expect((await counted(third, 6)).keptAttributes).toBeUndefined();
});

test('the times of a state file can be read while a source writes it', async () => {
  const ring = new OneAgent();
  const source = ring.open();
  expect(readState(ring.path)).toBeUndefined();
  ring.push(1n);
  const agent = await counted(source, 1);
  const { startTimeMs, lastEventMs } = readState(ring.path)!;
  expect({ startTimeMs, lastEventMs }).toEqual({ startTimeMs: agent.startTimeMs, lastEventMs: agent.lastEventMs });
  expect(readState(path.join(ring.directory, 'other'))).toBeUndefined();
});

test('a source without state begins at 0 and touches no file', async () => {
  const ring = new OneAgent();
  ring.push(1n);
  const without = ring.open({ state: false });
  await counted(without, 1);
  without.keepAttributes(without.snapshot().agents[0]!.id, 'text');
  without.close();
  expect(existsSync(ring.folder)).toBe(false);

  const first = ring.open();
  ring.push(1n);
  await counted(first, 1);
  first.close();
  const [file] = readdirSync(ring.folder);
  const bytes = readFileSync(path.join(ring.folder, file!));
  ring.push(1n);
  const second = ring.open({ state: false });
  expect(await counted(second, 1)).toMatchObject({ recovered: false });
  expect(second.snapshot().stateProblems).toEqual([]);
  second.close();
  expect(readFileSync(path.join(ring.folder, file!))).toEqual(bytes);
});

test('a folder that others can change is a problem, and the ring is drained all the same', async () => {
  const ring = new OneAgent();
  mkdirSync(ring.folder);
  chmodSync(ring.folder, 0o777);
  ring.push(1n);
  const source = ring.open();
  await counted(source, 1);
  const reason = 'its folder .nixl-otel is refused: its mode is 0777, not 0700';
  expect(source.snapshot().stateProblems).toEqual([{ path: ring.path, reason }]);
  expect(readdirSync(ring.folder)).toEqual([]);
});

test('a damaged file is a loss: the sums begin at 0, and are kept again', async () => {
  const ring = new OneAgent();
  ring.push(1n);
  const first = ring.open();
  await counted(first, 1);
  first.close();
  writeFileSync(path.join(ring.folder, 'agent'), 'nonsense');
  ring.push(1n);
  const second = ring.open();
  expect(await counted(second, 1)).toMatchObject({ recovered: false });
  expect(second.snapshot()).toMatchObject({ stateProblems: [], stateLosses: [{ path: ring.path, reason: /cut/ }] });
  second.close();
  const third = ring.open();
  ring.push(1n);
  expect(await counted(third, 2)).toMatchObject({ recovered: true });
  expect(third.snapshot()).toMatchObject({ stateProblems: [], stateLosses: [] });
});

test.each([
  [0, 'text', /agentId is 0/],
  [1, 'a\0b', /text is .*; allowed: a text of at most 4096 bytes/],
  [1, 'é'.repeat(2049), /text is .*; allowed: a text of at most 4096 bytes/],
])('keepAttributes(%o, %j) is refused', (id, text, message) => {
  const source = new OneAgent().open();
  expect(() => source.keepAttributes(id, text)).toThrow(message);
});
