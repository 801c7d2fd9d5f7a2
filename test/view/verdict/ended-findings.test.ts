import { describe, expect, it } from 'vitest';
import { timeOfDay } from '../../../src/ground/figures/clock.js';
import { endedFindings } from '../../../src/view/verdict/ended-findings.js';
import { LIVES_MS, SUCCESSOR_MS } from '../../../src/view/verdict/succession.js';
import { levelOf } from '../../../src/view/verdict/shapes.js';
import type { EndedAgent } from '../../../src/view/verdict/types.js';

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
const HOUR_MS = 3_600_000;

function ended(agoMs: number, about: Partial<EndedAgent> = {}): EndedAgent {
  return { id: 'a', name: 'a', endedMs: NOW_MS - agoMs, transferring: false, endsOfPlace: 1, ...about };
}

/** An agent that transferred up to its end. */
function moving(agoMs: number, about: Partial<EndedAgent> = {}): EndedAgent {
  return ended(agoMs, { transferring: true, movedMs: NOW_MS - agoMs, ...about });
}

function found(...all: readonly EndedAgent[]) {
  return endedFindings({
    origin: { kind: 'serve', name: 'x', directories: [] },
    takenMs: NOW_MS,
    observedSinceMs: 0,
    agents: [],
    ended: all,
  });
}

const said = (...all: readonly EndedAgent[]): string[] =>
  found(...all).map((finding) => `${levelOf(finding)}: ${finding.sentence}`);
const at = (agoMs: number): string => timeOfDay(NOW_MS - agoMs);
const successor = (laterMs: number, agoMs: number, name = 'b') => ({ name, sinceMs: NOW_MS - agoMs + laterMs });

describe('an end', () => {
  it('is a note that says what was seen', () => {
    expect(said(moving(5000))).toEqual([`note: a ended at ${at(5000)} while it transferred`]);
    expect(said(ended(5000, { movedMs: NOW_MS - 725_000, memoryBytes: 8 * 2 ** 30 }))).toEqual([
      `note: a ended at ${at(5000)}, 12 min after its last transfer, with 8.59 GB registered`,
    ]);
    expect(said(ended(5000))).toEqual([`note: a ended at ${at(5000)}, no transfer of it was seen`]);
    expect(said({ id: 1, name: 'a', endedMs: NOW_MS })).toEqual([`note: a ended at ${at(0)}`]);
  });

  it('is noted for ten minutes', () => {
    expect(said(ended(LIVES_MS - 1))).toHaveLength(1);
    expect(said(ended(LIVES_MS))).toEqual([]);
  });

  it('says what came in its place', () => {
    expect(said(moving(60_000, { successor: successor(12_000, 60_000) }))[0]).toMatch(
      /transferred; b came 12 s later$/,
    );
    expect(said(moving(60_000, { successor: successor(3000, 60_000, 'a') }))[0]).toMatch(
      /; it started again 3 s later$/,
    );
    expect(said(moving(60_000, { successor: successor(-9000, 60_000) }))[0]).toMatch(/; b had come 9 s before$/);
  });

  it('during transfers is an alarm from three minutes on, for as long as it is kept, if nothing comes in its place', () => {
    expect(said(moving(SUCCESSOR_MS - 1))[0]).toMatch(/^note/);
    for (const agoMs of [SUCCESSOR_MS, HOUR_MS]) {
      expect(said(moving(agoMs))).toEqual([
        `alarm: a ended at ${at(agoMs)} while it transferred; nothing has come in its place`,
      ]);
    }
    expect(found(moving(SUCCESSOR_MS))[0]).toMatchObject({ word: 'Agent missing', sinceMs: NOW_MS - SUCCESSOR_MS });
    expect(said(moving(SUCCESSOR_MS, { successor: successor(170_000, SUCCESSOR_MS) }))[0]).toMatch(/^note/);
    expect(said(moving(HOUR_MS, { successor: successor(170_000, HOUR_MS) }))).toEqual([]);
    expect(said(ended(SUCCESSOR_MS))[0]).toMatch(/^note/);
  });

  it('with errors is an alarm at once', () => {
    const failed = { errors: 640, errorsSinceMs: NOW_MS - 30_000 };
    expect(said(ended(2000, failed))).toEqual([
      `alarm: a ended at ${at(2000)}, no transfer of it was seen, after 640 errors since ${at(30_000)}`,
    ]);
    expect(said(ended(HOUR_MS, failed))).toHaveLength(1);
    expect(said(ended(LIVES_MS, { ...failed, successor: successor(1, LIVES_MS) }))).toEqual([]);
  });

  it('that is the third of its place in ten minutes is an alarm, once for the place', () => {
    const before = { successor: { ...successor(1000, 60_000), endedMs: NOW_MS - 5000 } };
    const ends = [ended(5000, { endsOfPlace: 4, name: 'a4' }), ended(60_000, { endsOfPlace: 3, ...before })];
    expect(said(...ends)).toEqual([
      `alarm: a4 ended at ${at(5000)}, no transfer of it was seen; 4 lives of its place ended within 10 min`,
    ]);
    expect(said(ended(5000, { endsOfPlace: 2 }))[0]).toMatch(/^note/);
    expect(said(ended(LIVES_MS, { endsOfPlace: 3 }))).toEqual([]);
  });
});

it('sums up several ends: notes from two on, alarms from four on', () => {
  const names = ['a', 'b', 'c', 'd'];
  const many = names.map((name) => moving(SUCCESSOR_MS - 1, { id: name, name }));
  expect(said(...many)).toEqual([
    `note: 4 agents ended since ${at(SUCCESSOR_MS - 1)} while they transferred: a, b and 2 more`,
  ]);
  const mixed = [ended(9000), moving(5000, { name: 'b', successor: successor(1, 5000, 'c') })];
  expect(said(...mixed)).toEqual([
    `note: 2 agents ended since ${at(9000)}, 1 while transferring: a and b; 1 of them has a successor`,
  ]);
  const missing = names.map((name) => moving(SUCCESSOR_MS, { id: name, name }));
  expect(found(...missing)[0]).toMatchObject({ word: 'Agents missing', agents: names });
  expect(said(...missing)).toEqual([
    `alarm: 4 agents ended since ${at(SUCCESSOR_MS)} while they transferred: a, b and 2 more; nothing has come in their place`,
  ]);
  expect(said(...missing.slice(1))).toHaveLength(3);
});

it('orders crash loops, ends with errors, missing agents and notes', () => {
  const words = found(
    ended(5000),
    moving(SUCCESSOR_MS),
    ended(5000, { errors: 1 }),
    ended(5000, { endsOfPlace: 3 }),
  ).map(({ word }) => word);
  expect(words).toEqual(['Ends repeat', 'Ended with errors', 'Agent missing', 'Agent ended']);
});
