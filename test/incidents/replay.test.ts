import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import type { Incident } from '../../src/view/incidents/incident.js';
import type { TraceLine } from './harness/replay.js';
import { KILLED_MS, TRACE } from './harness/trace.js';

const HERE = path.dirname(fileURLToPath(import.meta.url));

const FOLDER = mkdtempSync(path.join(tmpdir(), 'nixl-otel-traces-'));
afterAll(() => rmSync(FOLDER, { recursive: true }));

function incidentsOf(trace: readonly TraceLine[]): Incident[] {
  const file = path.join(FOLDER, 'trace.jsonl');
  writeFileSync(file, trace.map((line) => JSON.stringify(line)).join('\n'));
  const text = execFileSync(process.execPath, [path.join(HERE, 'replay.mjs'), file]).toString();
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Incident);
}

it('raises no alarm over a real engine, and notes the end of its process', () => {
  const before = TRACE.filter(({ t }) => t <= KILLED_MS);
  const after = TRACE.filter(({ t }) => t > KILLED_MS);
  const end = { t: KILLED_MS, agent: 'prefill', life: 'ended' };
  const incidents = incidentsOf([...before, end, ...after]);
  expect(incidents.filter(({ level }) => level === 'alarm')).toEqual([]);
  const ended = incidents.find(({ kind }) => kind === 'ended');
  expect(ended).toMatchObject({ agents: ['prefill'], level: 'note' });
  expect(ended!.beginMs).toBeGreaterThanOrEqual(KILLED_MS);
  expect(ended!.saidMs).toBeLessThanOrEqual(KILLED_MS + 4000);
});

it('knows an agent that comes back under its name', () => {
  const life = (from: number): TraceLine[] =>
    Array.from({ length: 100 }, (_, i) => [
      { t: from + i * 100, agent: 'a', event: 'agent_xfer_post_time', value: 5 },
      { t: from + i * 100, agent: 'a', event: 'agent_xfer_time', value: 100 },
      { t: from + i * 100, agent: 'a', event: 'agent_rx_bytes', value: 2 ** 20 },
      { t: from + i * 100, agent: 'a', event: 'agent_rx_requests_num', value: 1 },
    ]).flat();
  const incidents = incidentsOf([...life(5000), { t: 20_000, agent: 'a', life: 'ended' }, ...life(30_000)]);
  expect(incidents).toMatchObject([{ kind: 'ended', level: 'note', agents: ['a'] }]);
});
