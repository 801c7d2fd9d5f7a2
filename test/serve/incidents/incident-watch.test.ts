import { beforeEach, expect, it } from 'vitest';
import { IncidentWatch } from '../../../src/serve/incidents/incident-watch.js';
import { keptIncidents, type IncidentsOfDay } from '../../../src/serve/incidents/kept-incidents.js';
import type { Finding } from '../../../src/view/verdict/types.js';
import { temporaryDirectory } from '../../support/live.js';

const NOW_MS = new Date(2026, 10, 28, 2, 14, 0).getTime();
const STEP_MS = 5000;

function failing(...names: readonly string[]): Finding {
  const sentence = `${names.join(', ')}: 8 errors/s`;
  return { kind: 'failing', tone: 'bad', shape: 'diamond', word: 'Transfers fail', sentence, agents: names, names };
}

let lines: string[];
let nowMs: number;
let judged: number;
beforeEach(() => {
  lines = [];
  nowMs = NOW_MS;
  judged = 0;
});

const write = (text: string, level: string): void => void lines.push(`${level}: ${text}`);

function during(watch: IncidentWatch, ms: number, findings: readonly Finding[], stepMs = STEP_MS): void {
  for (const endMs = nowMs + ms; nowMs < endMs; nowMs += stepMs) {
    watch.take(nowMs, () => {
      judged++;
      return findings;
    });
  }
}

it('writes a line when an incident begins, and one when it has ended', () => {
  const watch = new IncidentWatch({ write });
  during(watch, 60_000, []);
  during(watch, 60_000, [failing('tp0')]);
  during(watch, 120_000, []);
  const note: Finding = { ...failing('tp1'), kind: 'memory', word: 'Memory grows', tone: 'info' };
  const end: Finding = { ...note, kind: 'ended', word: 'Agent ended' };
  during(watch, 60_000, [{ ...note, size: { value: 2, text: '2 GB' }, cause: 'a leak' }, end]);
  during(watch, 120_000, []);
  expect(lines).toEqual([
    'warning: Transfers fail: tp0: 8 errors/s',
    'info: Transfers fail, ended: tp0, 02:15:00-02:16:00, for 1 min',
    'info: Memory grows: tp1: 8 errors/s (a leak)',
    'info: Agent ended: tp1: 8 errors/s',
    'info: Memory grows, ended: tp1, 02:18:00-02:19:00, for 1 min, at worst 2 GB',
  ]);
});

it('writes no line about what serve reports elsewhere', () => {
  const watch = new IncidentWatch({ write });
  during(watch, 60_000, [
    { ...failing(), kind: 'receiver' },
    { ...failing(), kind: 'problem' },
  ]);
  during(watch, 120_000, []);
  expect(lines).toEqual([]);
  expect(watch.incidents).toHaveLength(2);
});

it('judges no more often than each four seconds, however many ask, and at once after the clock was set back', () => {
  const watch = new IncidentWatch({ write });
  during(watch, 60_000, [], 500);
  expect(judged).toBe(15);
  nowMs -= 3_600_000;
  during(watch, 500, [], 500);
  expect(judged).toBe(16);
});

it('does not fill the log, and says so', () => {
  const watch = new IncidentWatch({ write });
  during(
    watch,
    60_000,
    Array.from({ length: 300 }, (_, i) => failing(`tp${i}`)),
  );
  expect(lines).toHaveLength(101);
  expect(lines.at(-1)).toMatch(/further ones are at \/api\/v1\/incidents$/);
  during(watch, 3_600_000, []);
  during(watch, 60_000, [failing('tp0')]);
  expect(lines.at(-1)).toBe('warning: Transfers fail: tp0: 8 errors/s');
});

it('keeps incidents for the next process, also those that its end cut', () => {
  const directory = temporaryDirectory();
  const complaints: string[] = [];
  const place = {
    directories: () => [directory],
    lackBytes: () => 0,
    complain: (text: string) => complaints.push(text),
  };
  const before = new IncidentWatch({ write, file: keptIncidents(place) });
  during(before, 60_000, [failing('tp0')]);
  during(before, 120_000, []);
  during(before, 60_000, [failing('tp1')]);
  before.close();
  nowMs += 3_600_000;
  const after = new IncidentWatch({ write, file: keptIncidents(place) });
  during(after, 60_000, []);
  expect(after.incidents).toMatchObject([
    { agents: ['tp1'], beginMs: NOW_MS + 180_000, endMs: NOW_MS + 235_000, untilServeEnded: true },
    { agents: ['tp0'], beginMs: NOW_MS, endMs: NOW_MS + 60_000 },
  ]);
  expect(after.lastTrouble).toMatchObject({ agents: ['tp1'] });
  expect(complaints).toEqual([]);
});

it('writes the file at changes, and each minute while an incident holds, and nothing for a healthy fleet', () => {
  const written: IncidentsOfDay[] = [];
  const file = { read: () => undefined, write: (kept: IncidentsOfDay) => written.push(kept) > 0 };
  const watch = new IncidentWatch({ write, file });
  during(watch, 600_000, []);
  expect(written).toHaveLength(0);
  during(watch, 300_000, [failing('tp0')]);
  expect(written).toHaveLength(5);
  during(watch, 600_000, []);
  expect(written.length).toBeLessThan(9);
  watch.close();
  expect(written.at(-1)!.incidents[0]).toMatchObject({ endMs: NOW_MS + 900_000 });
});
