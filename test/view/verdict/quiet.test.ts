/** Agents that stop while their process lives: series of samples, and the words about them. */
import { describe, expect, it } from 'vitest';
import { timeOfDay } from '../../../src/ground/figures/clock.js';
import type { AgentModel } from '../../../src/view/model/agent-model.js';
import { lifeFindings } from '../../../src/view/verdict/ended-findings.js';
import { QuietWatch } from '../../../src/view/verdict/quiet-watch.js';
import { SUCCESSOR_MS } from '../../../src/view/verdict/succession.js';
import type { EndedAgent } from '../../../src/view/verdict/types.js';
import { agentModel } from '../../support/agent-models.js';

const STEP_S = 5;

/** Returns when the agent was first found quiet, seconds. `moves`: true if it moves in the sample of this second. */
function firstQuiet(untilS: number, moves: (second: number) => boolean, about: Partial<AgentModel<string>> = {}) {
  const watch = new QuietWatch<string>();
  let rxBytes = 1000;
  for (let second = 0; second <= untilS; second += STEP_S) {
    if (second > 0 && moves(second)) rxBytes += 7;
    watch.observe(second * 1000, [agentModel('a', { rxBytes, ...about })]);
    const sinceMs = watch.sinceMs('a');
    if (sinceMs !== undefined) return { second, since: sinceMs / 1000 };
  }
  return undefined;
}

/** A pseudo-random number from 0 to 1 for each second. */
const random = (second: number): number => (Math.imul(second + 1, 2654435761) >>> 8) / 2 ** 24;

describe('an agent', () => {
  it('is quiet half a minute after a steady pace of as long', () => {
    expect(firstQuiet(200, (second) => second <= 60)).toEqual({ second: 90, since: 60 });
    expect(firstQuiet(200, (second) => second <= 40)).toEqual({ second: 70, since: 40 });
  });

  it('is not if it was never steady, or its process is not seen to live', () => {
    expect(firstQuiet(900, () => false)).toBeUndefined();
    expect(firstQuiet(900, (second) => second <= 30)).toBeUndefined();
    for (const life of ['unknown', 'dead'] as const) {
      expect(firstQuiet(900, (second) => second <= 300, { life })).toBeUndefined();
    }
  });

  it('may pause as it did before', () => {
    const bursts = (second: number): boolean => second % 100 <= 30 || second < 30;
    expect(firstQuiet(7200, (second) => bursts(second))).toBeUndefined();
    expect(firstQuiet(9000, (second) => second < 3600 && bursts(second))).toMatchObject({ since: 3530 });
    expect(firstQuiet(3 * 3600, (second) => random(second) < 0.1)).toBeUndefined();
  });

  it('that flushes once a minute is not quiet between two flushes', () => {
    const minutely = (second: number): boolean => second % 60 === 0;
    expect(firstQuiet(3600, minutely)).toBeUndefined();
    expect(firstQuiet(3600, minutely, { flushIntervalMs: 60_000 })).toBeUndefined();
    expect(firstQuiet(7200, (second) => second <= 3600 && minutely(second))).toMatchObject({ since: 3600 });
  });

  it('is no longer quiet once it moves, nor an hour later', () => {
    const watch = new QuietWatch<string>();
    const observe = (second: number, rxBytes: number): number | undefined => {
      watch.observe(second * 1000, [agentModel('a', { rxBytes })]);
      return watch.sinceMs('a');
    };
    for (let second = 0; second <= 60; second += STEP_S) observe(second, second);
    expect(observe(120, 60)).toBe(60_000);
    expect(observe(60 + 3595, 60)).toBe(60_000);
    expect(observe(60 + 3600, 60)).toBeUndefined();
    expect(observe(5000, 61)).toBeUndefined();
  });
});

describe('the words', () => {
  const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
  const quiet = (name: string, agoMs: number) => agentModel(name, { quietSinceMs: NOW_MS - agoMs });
  const said = (agents: readonly AgentModel[], ended: readonly EndedAgent[] = []) =>
    lifeFindings({
      origin: { kind: 'serve', name: 'x', directories: [] },
      takenMs: NOW_MS,
      observedSinceMs: 0,
      agents,
      ended,
    });

  it('say since when, and of how many', () => {
    const since = timeOfDay(NOW_MS - 40_000);
    expect(said([quiet('a', 40_000), agentModel('b')])).toMatchObject([
      {
        kind: 'quiet',
        tone: 'info',
        sentence: `a has been quiet since ${since}, after a steady pace; its process lives`,
      },
    ]);
    const [both] = said([quiet('a', 30_000), quiet('b', 40_000), agentModel('c')]);
    expect(both!.sentence).toBe(`2 of 3 live agents have been quiet since ${since}, after a steady pace: a and b`);
    expect(said([agentModel('c')])).toEqual([]);
  });

  it('stand with the end of a peer at that time, which is an alarm then if nothing comes in its place', () => {
    const ended = (agoMs: number): EndedAgent => ({ id: 'p', name: 'p', endedMs: NOW_MS - agoMs, transferring: false });
    const agents = [quiet('a', 62_000), quiet('b', 300_000)];
    const [end, rest, ...more] = said(agents, [ended(60_000)]);
    expect(end).toMatchObject({ kind: 'ended', tone: 'info', agents: ['p', 'a'] });
    expect(end!.sentence).toMatch(/^p ended at .*; a has been quiet since then$/);
    expect(rest).toMatchObject({ kind: 'quiet', agents: ['b'] });
    expect(more).toEqual([]);
    const [missing] = said([quiet('a', SUCCESSOR_MS)], [ended(SUCCESSOR_MS)]);
    expect(missing).toMatchObject({ kind: 'ended', tone: 'bad' });
    expect(missing!.sentence).toMatch(/; nothing has come in its place; a has been quiet since then$/);
  });
});
