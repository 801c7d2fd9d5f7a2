/** The programs of cases: prompt ones, engines, and engines whose transfers partly end inside of their post. */
import type { Random } from './random.js';
import type { AgentRow, Posting, Program } from './shapes.js';

export const KiB = 1024;
export const MiB = 1024 * 1024;

/** 16 KiB to 4 MiB. */
export const FOUR_SIZES = [16 * KiB, 128 * KiB, MiB, 4 * MiB] as const;

/** Bytes in a microsecond. */
export const gigabytes = (perSecond: number): number => perSecond * 1000;

export const oneOf =
  (...sizes: readonly number[]) =>
  (random: Random): number =>
    random.of(sizes);

/** Log-normal, in steps of 64 KiB, up to 512 MiB. */
export const around = (median: number, sigma: number) => {
  const at = aroundAt(() => median, sigma);
  return (random: Random): number => at(random, 0);
};

export const aroundAt =
  (median: (t: number) => number, sigma: number) =>
  (random: Random, t: number): number => {
    const step = 64 * KiB;
    const bytes = Math.round((median(t) * random.around(sigma)) / step) * step;
    return Math.min(512 * MiB, Math.max(step, bytes));
  };

export const always = (count: number) => (): number => count;

export const posts = (
  us: number,
  sigma: number,
  tail: readonly [share: number, factor: number],
  perBlock: readonly [us: number, bytes: number] = [0, MiB],
): Posting => ({
  us,
  sigma,
  tailShare: tail[0],
  tailFactor: tail[1],
  perBlockUs: perBlock[0],
  blockBytes: perBlock[1],
});

/** Sees the end of a transfer at once. */
export const PROMPT: Program = {
  direction: 'rx',
  bytesPerUs: gigabytes(12),
  noise: (random) => random.between(0.85, 1.15),
  outlierShare: 0.01,
  baseUs: 14,
  size: oneOf(...FOUR_SIZES),
  asking: { kind: 'poisson', perSecond: 6 },
  post: posts(4, 0.1, [0.01, 4]),
};

/** Sees it at the next step of its loop. */
export const ENGINE: Program = {
  ...PROMPT,
  loop: { ms: 10, growth: 0.1 },
  size: around(8 * MiB, 1),
  asking: { kind: 'poisson', perSecond: 4 },
  post: posts(20, 0.2, [0.03, 8], [0.3, 16 * KiB]),
};

/** An engine without a network: half of its transfers end inside of their post. */
export const INLINE: Program = {
  ...PROMPT,
  bytesPerUs: gigabytes(5),
  loop: { ms: 8, growth: 0.15 },
  baseUs: 2000,
  inline: { share: 0.55, bytesPerUs: gigabytes(8), us: 60 },
  size: oneOf(1.25 * MiB),
  asking: { kind: 'poisson', perSecond: 8 },
  post: posts(80, 0.25, [0.15, 12], [0.15, 4 * KiB]),
};

/** Returns agents with the names that `b0..b7` or `b0` states. */
export function agents(names: string, program: Program): AgentRow[] {
  return namesOf(names).map((name, i) => ({ ...program, name, i }));
}

/** Returns the names of `b0..b3`, `b1+b4`, `v0`, or several of these with blanks between them. */
export function namesOf(text: string): string[] {
  return text.split(/[ +]/).flatMap((part) => {
    const [first = '', last] = part.split('..');
    const [, letter = '', from = ''] = /^(\D+)(\d+)$/.exec(first) ?? [];
    if (last === undefined) return [first];
    const to = Number(/\d+$/.exec(last)![0]);
    return Array.from(
      { length: to - Number(from) + 1 },
      (_, i) => letter + String(Number(from) + i).padStart(from.length, '0'),
    );
  });
}
