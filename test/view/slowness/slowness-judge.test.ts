import { expect, test } from 'vitest';
import type { SizeClassTally } from '../../../src/ground/tally.js';
import { SlownessJudge } from '../../../src/view/slowness/slowness-judge.js';
import { exponentialTally } from '../../support/exponential.js';

const SIZES = [2 ** 14, 2 ** 17, 2 ** 20, 2 ** 22];
const STEP_MS = 4000;
const NONE = { classes: [], endedInPost: 0, flushSquares: 0n };

interface Speed {
  readonly bytesPerUs?: number;
  readonly baseUs?: number;
  readonly postUs?: number;
}

/** Counts eight transfers of each size in each step. */
class Program {
  readonly #times = new Map<number, number[]>();
  readonly #posts: number[] = [];

  step({ bytesPerUs = 12_000, baseUs = 14, postUs = 4 }: Speed = {}): void {
    for (const bytes of SIZES) {
      const times = this.#times.get(bytes) ?? [];
      for (let i = 0; i < 8; i++) times.push(Math.round((baseUs + postUs + bytes / bytesPerUs) * (1 + 0.01 * i)));
      this.#times.set(bytes, times);
    }
    for (let i = 0; i < 8; i++) this.#posts.push(postUs);
  }

  get timeBySize() {
    const classes = [...this.#times].map(([bytes, times]): SizeClassTally => {
      const duration = { sum: 0n, exponential: exponentialTally(times) };
      const post = { sum: 0n, exponential: exponentialTally(this.#posts) };
      return { upToBytes: bytes, count: times.length, bytes: BigInt(bytes * times.length), duration, post };
    });
    return { transmit: NONE, receive: { classes, endedInPost: 0, flushSquares: BigInt(classes[0]?.count ?? 0) } };
  }
}

/** Returns what is found after five minutes of the usual speed, and then a time of another one. */
function factsAfter(speed: Speed, seconds: number) {
  const judge = new SlownessJudge();
  const programs = [new Program(), new Program()];
  const end = 300_000 + 1000 * seconds;
  for (let ms = 0; ms <= end; ms += STEP_MS) {
    judge.take(
      ms,
      programs.map(({ timeBySize }, id) => ({ id, name: `agent-${id}`, timeBySize })),
    );
    programs[0]!.step(ms >= 300_000 ? speed : {});
    programs[1]!.step();
  }
  return judge.facts;
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

test('notes that all sizes take longer by the same time', () => {
  expect(factsAfter({ baseUs: 5000 }, 240)).toMatchObject([{ kind: 'late-completion', name: 'agent-0' }]);
});

test('finds nothing where nothing changes', () => {
  expect(factsAfter({}, 240)).toEqual([]);
});
