/** The history over restarts of serve, in real files. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { agentColumns, fleetAnswer } from '../../../src/serve/api/history.js';
import { HistoryFile } from '../../../src/serve/api/history-file.js';
import { StatePlace } from '../../../src/serve/state/state-place.js';
import type { AgentSnapshot } from '../../../src/ground/tally.js';
import { temporaryDirectory } from '../../support/live.js';
import { agent, ERR_BACKEND, recording, START_MS, TX_BYTES, TX_REQUESTS, XFER_TIME } from './snapshots.js';

const KEPT = ['.nixl-otel', '.serve', 'history.json'];

/** Another serve of the directory. */
function serve(directory: string) {
  const place = new StatePlace();
  const said: string[] = [];
  Object.assign(place, { complain: (text: string) => said.push(text) });
  place.take({ snapshot: { places: [] }, agents: [{ directory }] });
  let running: ReturnType<typeof recording> | undefined;
  const file = new HistoryFile(place, () => running!.recorder);
  return {
    said,
    sample(seconds: number, agents: AgentSnapshot[]): void {
      running ??= recording(seconds, agents);
      file.take(running.sample(seconds, agents));
    },
    end: () => file.write(),
    get history() {
      return fleetAnswer(running!.recorder, { fromMs: 0, startedMs: 1, takenMs: 2 });
    },
    agent(id: number) {
      const { timesMs, rows } = running!.recorder.record.agents.after(0);
      return { timesMs, ...agentColumns(id, rows.get(id)!) };
    },
  };
}

const tp = (id: number, seconds: number, about: Partial<AgentSnapshot> = {}): AgentSnapshot => {
  const values = {
    [TX_BYTES]: [seconds * 1000],
    [TX_REQUESTS]: [seconds],
    [XFER_TIME]: [7, 90],
    [ERR_BACKEND]: [seconds],
  };
  return agent(id, values, { agent: 'tp0', ...about });
};

function steps(one: ReturnType<typeof serve>, from: number, to: number, id: number): void {
  for (let at = from; at <= to; at += 5) one.sample(at, [tp(id, at, { restarts: at < 20 ? 0 : 1 })]);
}

test('the next serve has the points of the last one, and a gap between them', () => {
  const directory = temporaryDirectory();
  const first = serve(directory);
  steps(first, 0, 60, 1);
  first.end();
  const before = first.history;
  const agentBefore = first.agent(1);
  const second = serve(directory);
  steps(second, 90, 120, 5);
  const { history } = second;
  expect([first.said, second.said]).toEqual([[], []]);
  expect(history.blindSpans).toEqual([{ fromMs: START_MS + 60_000, toMs: START_MS + 90_000 }]);
  const kept = before.timesMs.length;
  expect(kept).toBeGreaterThan(10);
  expect(history.timesMs.slice(0, kept)).toEqual(before.timesMs);
  for (const name of ['tx', 'requests', 'memory', 'fill', 'p50', 'p99'] as const) {
    expect(history.fleet[name].slice(0, kept)).toEqual(before.fleet[name]);
  }
  expect(history.fleet.errors['backend']!.slice(0, kept)).toEqual(before.fleet.errors['backend']);
  expect([history.timesMs[kept], history.fleet.tx[kept]]).toEqual([START_MS + 90_000, null]);
  expect(history.fleet.tx.at(-1)).toBe(1000);
  const columns = before.transferTimesUs.timesMs.length;
  expect(history.transferTimesUs.counts.slice(0, columns)).toEqual(before.transferTimesUs.counts);
  expect(history.transferTimesUs.offsets.slice(0, columns)).toEqual(before.transferTimesUs.offsets);
  expect(history.transferTimesUs.counts[columns]).toBeNull();
  expect(history.events).toMatchObject([{ kind: 'restarted', id: 5, name: 'tp0' }]);
  const now = second.agent(5);
  expect(now.tx.slice(0, agentBefore.tx.length)).toEqual(agentBefore.tx);
  expect(now.tx[agentBefore.tx.length]).toBeNull();
  expect(now.tx.at(-1)).toBe(1000);
});

test('restarts of serve stay for ten minutes, and older points are gone', () => {
  const directory = temporaryDirectory();
  for (const from of [0, 100, 200]) {
    const one = serve(directory);
    steps(one, from, from + 50, 1);
    one.end();
  }
  const last = serve(directory);
  steps(last, 720, 730, 1);
  expect(last.history.blindSpans).toMatchObject([{ toMs: START_MS + 200_000 }, { toMs: START_MS + 720_000 }]);
  expect(last.history.timesMs[0]).toBeGreaterThan(START_MS + 130_000);
  expect(last.agent(1).timesMs[0]).toBeGreaterThan(START_MS + 120_000);
});

test('a serve that is killed leaves what it wrote meanwhile', () => {
  const directory = temporaryDirectory();
  steps(serve(directory), 0, 300, 1);
  const next = serve(directory);
  steps(next, 310, 310, 1);
  expect(next.history.blindSpans![0]!.fromMs).toBeGreaterThan(START_MS + 270_000);
});

test('a history of a later time is left out: the clock was set back', () => {
  const directory = temporaryDirectory();
  const first = serve(directory);
  steps(first, 100, 200, 1);
  first.end();
  const next = serve(directory);
  steps(next, 0, 10, 1);
  expect(next.history.blindSpans).toEqual([]);
  expect(next.history.timesMs.at(-1)).toBe(START_MS + 10_000);
  expect(next.said).toEqual([]);
});

test('without agents nothing is written', () => {
  const directory = temporaryDirectory();
  const one = serve(directory);
  for (let at = 0; at < 100; at += 5) one.sample(at, []);
  one.end();
  expect(() => readFileSync(path.join(directory, ...KEPT))).toThrow('ENOENT');
});

test.each([
  ['no JSON', () => '{'],
  ['another version', () => '{"version":9}'],
  ['no columns', () => '{"version":1,"keptMs":5,"timesMs":[],"agents":[]}'],
  ['a column of another length', (text: string) => text.replace('"tx":[', '"tx":[5,')],
  ['a text among numbers', (text: string) => text.replace('"requests":[', '"requests":["x",')],
  ['times that are none', (text: string) => text.replace('"agentTimesMs":[', '"agentTimesMs":[{},')],
  ['counts of another length', (text: string) => text.replace('"offsets":[', '"offsets":[3,')],
  ['marks that are none', (text: string) => text.replace('"blindSpans":[', '"blindSpans":[5')],
])('a file with %s is reported, ignored and replaced', (_, spoilt) => {
  const directory = temporaryDirectory();
  const first = serve(directory);
  steps(first, 0, 60, 1);
  first.end();
  const file = path.join(directory, ...KEPT);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, spoilt(text));
  const next = serve(directory);
  steps(next, 90, 100, 1);
  expect(next.said).toEqual([expect.stringMatching(/history\.json is ignored: it is (damaged|of another version)$/)]);
  expect(next.history.blindSpans).toEqual([]);
  expect(next.history.timesMs.every((time) => time >= START_MS - 1000 + 90_000 || time === START_MS)).toBe(true);
  next.end();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1, keptMs: START_MS + 100_000 });
});

test('agents beyond the limit have no history of their own, and the file stays small', () => {
  const directory = temporaryDirectory();
  const first = serve(directory);
  const all = Array.from({ length: 300 }, (_, i) => i + 1);
  for (let at = 0; at <= 600; at += 5) {
    first.sample(
      at,
      all.map((id) => tp(id, at * id, { agent: `decode-${id}` })),
    );
  }
  first.end();
  const text = readFileSync(path.join(directory, ...KEPT), 'utf8');
  expect((JSON.parse(text) as { agents: unknown[] }).agents).toHaveLength(256);
  expect(text.length).toBeLessThan(2 ** 20);
});

test('a folder that others may write is not used', () => {
  const directory = temporaryDirectory();
  mkdirSync(path.join(directory, '.nixl-otel'), { mode: 0o777 });
  mkdirSync(path.join(directory, '.nixl-otel', '.serve'), { mode: 0o755 });
  const one = serve(directory);
  steps(one, 0, 10, 1);
  one.end();
  expect(one.said.some((text) => text.includes('is not kept over a restart') || text.includes('is ignored'))).toBe(
    true,
  );
});
