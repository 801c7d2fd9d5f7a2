/** Memory that only grows, and memory that was never used. */
import { describe, expect, it } from 'vitest';
import { timeOfDay } from '../../../src/ground/figures/clock.js';
import type { AgentModel } from '../../../src/view/model/agent-model.js';
import { memoryFindings } from '../../../src/view/verdict/memory-findings.js';
import { MemoryWatch } from '../../../src/view/verdict/memory-watch.js';
import { unusedFinding } from '../../../src/view/verdict/unused-finding.js';
import { agentModel } from '../../support/agent-models.js';

const GIB = 2 ** 30;
const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

const inputOf = (...agents: readonly AgentModel[]) => ({
  origin: { kind: 'serve', name: 'x', directories: [] } as const,
  takenMs: NOW_MS,
  observedSinceMs: 0,
  agents,
});

describe('memory that grows', () => {
  function growthOf(untilS: number, memoryAt: (second: number) => number) {
    const watch = new MemoryWatch<string>();
    const found: number[] = [];
    for (let second = 0; second <= untilS; second += 5) {
      watch.observe(second * 1000, [agentModel('a', { memoryBytes: memoryAt(second) })]);
      if (watch.growth('a') !== undefined) found.push(second);
    }
    return { found, growth: watch.growth('a') };
  }

  it('is found after two minutes', () => {
    const { found, growth } = growthOf(150, (second) => 8 * GIB + second * 1e8);
    expect(found[0]).toBe(120);
    expect(growth).toEqual({ sinceMs: 0, fromBytes: 8 * GIB, bytes: 150e8 });
  });

  it('is found beneath what the program registers and deregisters meanwhile', () => {
    expect(growthOf(300, (second) => second * 1e6 + (second % 3) * 1e9).found.length).toBeGreaterThan(0);
  });

  it('is none of an agent that registers at its start and rests, or whose memory swings', () => {
    expect(growthOf(3600, (second) => Math.min(second, 85) * 1e8).found).toEqual([]);
    expect(growthOf(3600, (second) => (second % 60) * 1e8).found).toEqual([]);
    expect(growthOf(3600, (second) => Math.round(1e9 * Math.sin(second / 20) + 2e9)).found).toEqual([]);
  });

  it('is over once it rests', () => {
    const { found, growth } = growthOf(600, (second) => Math.min(second, 300) * 1e8);
    expect(growth).toBeUndefined();
    expect(found.at(-1)).toBeLessThan(370);
  });

  it('is a note with rate and begin', () => {
    const growth = { sinceMs: NOW_MS - 60_000, fromBytes: 8e9, bytes: 6e9 };
    const growing = (name: string, bytes: number) =>
      agentModel(name, { memoryBytes: 8e9 + bytes, memoryGrowth: { ...growth, bytes } });
    const since = timeOfDay(NOW_MS - 60_000);
    expect(memoryFindings(inputOf(growing('a', 6e9), agentModel('b')))).toMatchObject([
      {
        kind: 'memory',
        tone: 'info',
        sentence: `a: registered memory only grows, by 100 MB/s since ${since}, from 8.00 GB to 14.0 GB`,
      },
    ]);
    const four = [6e8, 6e9, 6e8, 6e8].map((bytes, i) => growing(`a${i}`, bytes));
    expect(memoryFindings(inputOf(...four))).toMatchObject([
      { sentence: `4 agents, most of all a1: registered memory only grows, by 130 MB/s since ${since}` },
    ]);
    expect(memoryFindings(inputOf({ ...growing('a', 1), life: 'dead' }))).toEqual([]);
  });
});

describe('memory that was never used', () => {
  const holder = (name: string, about: Partial<AgentModel<string>> = {}) =>
    agentModel(name, { memoryBytes: 8 * GIB, startTimeMs: NOW_MS - 180_000, ...about });
  const namesIn = (...agents: readonly AgentModel[]) =>
    unusedFinding(inputOf(...agents)).flatMap(({ agents: ids }) => ids);

  it('is a note from three minutes on, with what and since when', () => {
    const since = timeOfDay(NOW_MS - 180_000);
    expect(unusedFinding(inputOf(holder('a'), holder('b')))).toMatchObject([
      {
        kind: 'unused',
        tone: 'info',
        sentence: `2 agents have 17.2 GB registered and no transfer since ${since}: a and b`,
      },
    ]);
    expect(unusedFinding(inputOf(holder('a')))[0]!.sentence).toBe(
      `a has 8.59 GB registered and no transfer since ${since}`,
    );
    expect(namesIn(holder('a', { startTimeMs: NOW_MS - 179_999 }))).toEqual([]);
  });

  it('is not said of agents without memory, with transfers, or that ended', () => {
    const others = [{ memoryBytes: 0 }, { rxRequests: 1 }, { life: 'dead' as const }];
    for (const about of others) expect(namesIn(holder('a', about))).toEqual([]);
  });

  it('is not said of the passive side beside an active one, but of a rank whose peers transfer', () => {
    expect(namesIn(holder('prefill-0'), holder('decode-0', { rxRequests: 1 }))).toEqual([]);
    expect(namesIn(holder('decode-1'), holder('decode-0', { rxRequests: 1 }))).toEqual(['decode-1']);
    const uuid = '0f1e2d3c-0000-4a00-8b00-00000000abc';
    expect(namesIn(holder(`${uuid}1`), holder(`${uuid}2`, { rxRequests: 1 }))).toEqual([]);
  });
});
