import { expect, test } from 'vitest';
import type { KeptUsual } from '../../../src/view/slowness/kept-usual.js';
import type { SlowClass } from '../../../src/view/slowness/slow-facts.js';
import { SlownessJudge } from '../../../src/view/slowness/slowness-judge.js';
import { SizedProgram, type Speed, STEP_MS } from '../../support/sized-program.js';

/** Judges five minutes of the usual speed, and then a time of another one. */
function judgedAfter(speed: Speed, seconds: number): SlownessJudge {
  const judge = new SlownessJudge();
  const programs = [new SizedProgram(), new SizedProgram()];
  const end = 300_000 + 1000 * seconds;
  for (let ms = 0; ms <= end; ms += STEP_MS) {
    judge.take(
      ms,
      programs.map(({ timeBySize }, id) => ({ id, name: `agent-${id}`, place: `/agent-${id}`, timeBySize })),
    );
    programs[0]!.step(ms >= 300_000 ? speed : {});
    programs[1]!.step();
  }
  return judge;
}

function factsAfter(speed: Speed, seconds: number) {
  return judgedAfter(speed, seconds).facts;
}

test('finds a link at a tenth within half a minute, since when, and for which sizes', () => {
  const [fact, ...others] = factsAfter({ bytesPerUs: 1200 }, 32);
  expect(others).toEqual([]);
  expect(fact).toMatchObject({ kind: 'slow-transfers', name: 'agent-0', direction: 'receive' });
  expect(fact!.sinceMs).toBeGreaterThanOrEqual(296_000);
  expect(fact!.sinceMs).toBeLessThanOrEqual(304_000);
  expect(fact!.classes.map(({ upToBytes }) => upToBytes)).toContain(2 ** 22);
});

test('finds slow posts, which are not slow transfers', () => {
  const facts = factsAfter({ postUs: 500 }, 32);
  expect(facts).toMatchObject([{ kind: 'slow-posts', name: 'agent-0' }]);
  expect(facts[0]!.factor).toBeGreaterThan(100);
});

test('tells the factor of what is found, and no slow transfers where posts are slow', () => {
  const slow = judgedAfter({ bytesPerUs: 1200 }, 32);
  expect(slow.slowdownsOf(0)!.receive.slowdown).toBeGreaterThanOrEqual(slow.facts[0]!.factor);
  expect(slow.slowdownsOf(1)!.receive.slowdown).toBeCloseTo(1, 1);
  const { slowdown, postSlowdown } = judgedAfter({ postUs: 500 }, 32).slowdownsOf(0)!.receive;
  expect(slowdown).toBeCloseTo(1, 0);
  expect(postSlowdown).toBeGreaterThan(100);
});

test('notes that all sizes take longer by the same time', () => {
  expect(factsAfter({ baseUs: 5000 }, 240)).toMatchObject([{ kind: 'late-completion', name: 'agent-0' }]);
});

test('finds nothing where nothing changes', () => {
  expect(factsAfter({}, 240)).toEqual([]);
});

test('notes a slow first transfer once, and compares nothing with it', () => {
  const judge = new SlownessJudge();
  const program = new SizedProgram();
  const take = (ms: number) =>
    judge.take(ms, ms === 0 ? [] : [{ id: 1, name: 'cold', place: '/cold', timeBySize: program.timeBySize }]);
  take(0);
  program.step({ baseUs: 38e6, postUs: 37.9e6 });
  const said: number[] = [];
  for (let ms = STEP_MS; ms <= 900_000; ms += STEP_MS) {
    take(ms);
    if (judge.facts.length > 0) said.push(ms);
    if (said.length === 1) {
      expect(judge.facts).toMatchObject([{ kind: 'cold-start', name: 'cold', sinceMs: 0 }]);
      const [{ timeUs, usualUs, postUs }] = judge.facts[0]!.classes as [SlowClass];
      expect(timeUs / 1e6).toBeGreaterThan(70);
      expect(postUs! / 1e6).toBeCloseTo(38, -1);
      expect(usualUs).toBeLessThan(1000);
    }
    program.step();
  }
  expect(said[0]).toBeLessThan(60_000);
  expect(said.at(-1)! - said[0]!).toBe(600_000 - STEP_MS);
});

test('keeps what is usual when the clock is set back', () => {
  const judge = new SlownessJudge();
  const program = new SizedProgram();
  let ms = 10_000_000;
  const take = (): void =>
    judge.take((ms += STEP_MS), [{ id: 1, name: 'agent', place: '/agent', timeBySize: program.timeBySize }]);
  for (let i = 0; i < 30; i++, program.step()) take();
  ms -= 3_600_000;
  for (let i = 0; i < 30; i++, program.step()) take();
  expect(judge.facts).toEqual([]);
  for (let i = 0; i < 8; i++) {
    program.step({ bytesPerUs: 1200 });
    take();
  }
  expect(judge.facts).toMatchObject([{ kind: 'slow-transfers' }]);
  expect(ms - judge.facts[0]!.sinceMs).toBeLessThan(40_000);
});

test('takes what became slower as usual when it is told to, and after a day', () => {
  const judge = new SlownessJudge();
  judge.acceptMs = 600_000;
  const program = new SizedProgram();
  let ms = 0;
  const run = (steps: number, speed: Speed = {}): boolean[] =>
    Array.from({ length: steps }, () => {
      judge.take((ms += STEP_MS), [{ id: 1, name: 'agent', place: '/agent', timeBySize: program.timeBySize }]);
      program.step(speed);
      return judge.facts.length > 0;
    });
  run(60);
  expect(run(15, { bytesPerUs: 1200 }).at(-1)).toBe(true);
  judge.accept([1]);
  expect(judge.facts).toEqual([]);
  expect(run(30, { bytesPerUs: 1200 })).not.toContain(true);
  expect(run(15, { bytesPerUs: 120 }).at(-1)).toBe(true);
  expect(run(150, { bytesPerUs: 120 }).at(-1)).toBe(false);
});

test('is not misled by long tails: what all sizes grow by is late asking', () => {
  const judge = new SlownessJudge();
  const program = new SizedProgram();
  const found = new Set<string>();
  for (let i = 0; i < 150; i++) {
    judge.take(STEP_MS * i, [{ id: 1, name: 'agent', place: '/agent', timeBySize: program.timeBySize }]);
    for (const { kind } of judge.facts) found.add(kind);
    program.step({ tail: 6, baseUs: i < 75 ? 14 : 5000 });
  }
  expect([...found]).toEqual(['late-completion']);
});

test('ends an alarm of an agent that has moved nothing for fifteen minutes', () => {
  const judge = new SlownessJudge();
  const program = new SizedProgram();
  let ms = 0;
  const take = (): number => {
    judge.take((ms += STEP_MS), [{ id: 1, name: 'agent', place: '/agent', timeBySize: program.timeBySize }]);
    return judge.facts.length;
  };
  for (let i = 0; i < 60; i++, program.step()) take();
  for (let i = 0; i < 15; i++, program.step({ bytesPerUs: 1200 })) take();
  expect(take()).toBe(1);
  const stoppedMs = ms;
  while (ms < stoppedMs + 2_000_000 && take() > 0);
  expect((ms - stoppedMs) / 60_000).toBeCloseTo(15, 0);
});

test('does not go back to earlier agents after a restart of serve, where a change was accepted', () => {
  const program = new SizedProgram();
  let ms = 0;
  const run = (judge: SlownessJudge, steps: number, speed: Speed = {}): boolean =>
    Array.from({ length: steps }, () => {
      judge.take((ms += STEP_MS), [{ id: 1, name: 'agent', place: '/agent', timeBySize: program.timeBySize }]);
      program.step(speed);
      return judge.facts.length > 0;
    }).includes(true);
  const restarted = (judge: SlownessJudge): SlownessJudge => {
    const next = new SlownessJudge();
    next.restore(JSON.parse(JSON.stringify(judge.usual)) as KeptUsual);
    return next;
  };
  const first = new SlownessJudge();
  run(first, 75);
  expect(run(first, 15, { bytesPerUs: 1200 })).toBe(true);
  expect(run(restarted(first), 30, { bytesPerUs: 1200 })).toBe(true);
  first.accept([1]);
  const second = restarted(first);
  expect(run(second, 1, { bytesPerUs: 1200 })).toBe(false);
  expect(run(restarted(second), 30, { bytesPerUs: 1200 })).toBe(false);
});
