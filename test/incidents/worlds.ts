/**
 * The worlds of the labelled cases, by the numbers that cases.ts refers to. Agents that come in the place of others have their
 * names, with other digits.
 */
import {
  agents,
  always,
  around,
  aroundAt,
  ENGINE,
  FOUR_SIZES,
  gigabytes,
  INLINE,
  KiB,
  MiB,
  oneOf,
  posts,
  PROMPT,
} from './world/programs.js';
import type { Program, World } from './world/shapes.js';

/** Time at which most faults and changes begin, seconds. */
export const ONSET_S = 480;

const atRate = (perSecond: number, more: Partial<Program> = {}): Program => ({
  ...PROMPT,
  bytesPerUs: gigabytes(perSecond),
  ...more,
});
const FEW: Program = {
  ...PROMPT,
  size: oneOf(MiB, 8 * MiB, 64 * MiB),
  asking: { kind: 'poisson', perSecond: 0.1 },
  post: posts(6, 0.1, [0.01, 5]),
};
const idleAt = (from: number, until: number) => (t: number) => (t > from && t < until ? 0 : 1);
const pausing = (program: Program, perSecond: number): Program => ({
  ...program,
  asking: { kind: 'poisson', perSecond, load: idleAt(500, 900) },
});
/** Median of an engine's sizes that grows twelvefold. */
const growing = aroundAt((t) => (t < ONSET_S ? 2 : 24) * MiB, 0.8);
const LOCK_STEP: Program = { ...ENGINE, loop: { ms: 10, growth: 0.1, shared: 'tp' } };
const onOneCard = (open: (t: number) => number): Program => ({
  ...atRate(5, { size: oneOf(MiB, 4 * MiB, 16 * MiB), asking: { kind: 'closed', open, thinkS: 0.01 } }),
  link: 'card',
});
const churn = (round: number): World =>
  agents(`c${round}0..c${round}1`, {
    ...PROMPT,
    warmMs: 300,
    fromS: round * 240,
    endsS: round * 240 + 230,
  });

// prettier-ignore
export const WORLDS = {
  W1: agents('b0..b7', PROMPT),
  W2: agents('e0..e7', ENGINE),
  W3: agents('e0..e7', { ...ENGINE, loop: { ms: 2, growth: 0.1 }, size: around(48 * MiB, 0.8) }),
  W4: agents('v0..v1', INLINE),
  W6: agents('b0', PROMPT),
  W7: agents('b0', { ...PROMPT, size: oneOf(MiB) }),
  W8: agents('f0..f3', FEW),
  W9: agents('f0', FEW),
  W10: agents('b0..b5', PROMPT),
  W11: agents('e0..e5', ENGINE),
  W13: agents('b0..b3', PROMPT),
  W14: agents('e0..e3', ENGINE),
  W15: [...agents('b0..b5', PROMPT), ...agents('n0', { ...PROMPT, fromS: 600 })],
  W16: [...agents('e0..e5', ENGINE), ...agents('n0', { ...ENGINE, warmMs: 300, fromS: 600 })],
  W18: [...agents('e0..e3', { ...ENGINE, endsS: 600 }), ...agents('n0..n3', { ...ENGINE, warmMs: 200, fromS: 640 })],
  W19: agents('b0..b5', { ...PROMPT, asking: { kind: 'poisson', perSecond: 12 } }),
  W20: agents('b0..b3', { ...PROMPT, asking: { kind: 'closed', open: always(2), thinkS: 0.1 } }),
  W21: [...agents('p0..p3', { ...PROMPT, direction: 'tx' }), ...agents('d0..d3', PROMPT)],
  W22: [...agents('e0', LOCK_STEP), ...agents('e1..e7', { ...LOCK_STEP, asking: { kind: 'same', as: 'e0' } })],
  W23: agents('b0..b63', { ...PROMPT, asking: { kind: 'poisson', perSecond: 4 } }),
  W25: [...agents('h0..h3', atRate(25)), ...agents('g0..g3', atRate(5))],
  W26: agents('b0..b2', atRate(3, { size: oneOf(MiB, 4 * MiB, 16 * MiB), asking: { kind: 'closed', open: (t) => (t < 300 ? 1 : 8), thinkS: 0.05 } })),
  W27: agents('b0..b3', pausing(PROMPT, 6)),
  W28: [...agents('h0..h6', atRate(25)), ...agents('j0', atRate(2))],
  W29: [
    ...agents('h0..h2', atRate(25, { endsS: 600 })), ...agents('g0..g2', atRate(3, { endsS: 600 })),
    ...agents('H0..H2', atRate(25, { warmMs: 200, fromS: 640 })), ...agents('G0..G2', atRate(3, { warmMs: 200, fromS: 640 })),
  ],
  W31: agents('v0..v1', { ...INLINE, asking: { kind: 'burst', count: (t) => (t > ONSET_S && t < 700 ? 8 : 2), everyS: 1 } }),
  W33: agents('e0..e3', { ...ENGINE, asking: { kind: 'burst', count: (t) => (t > ONSET_S ? 16 : 4), everyS: 3 } }),
  W34: agents('b0..b3', { ...PROMPT, size: (random, t, i) => (i === 0 ? (t < ONSET_S ? 16 * KiB : 4 * MiB) : random.of(FOUR_SIZES)) }),
  W35: agents('e0..e5', { ...ENGINE, size: growing }),
  W37: [...agents('b0..b3', PROMPT), ...agents('t0', { ...PROMPT, size: oneOf(4 * KiB) })],
  W38: agents('e0', { ...ENGINE, size: oneOf(8 * MiB) }),
  W39: agents('e0', { ...ENGINE, size: oneOf(64 * MiB), noise: (random) => random.around(0.5) }),
  W40: [...agents('b0..b4', PROMPT), ...agents('n0..n1', { ...PROMPT, warmMs: 1500, fromS: 600 })],
  W41: agents('e0..e3', pausing(ENGINE, 4)),
  W44: [...agents('b0..b3', { ...PROMPT, endsS: 600 }), ...agents('n0..n3', { ...PROMPT, warmMs: 500, fromS: 660 })],
  W45: [0, 1, 2, 3, 4].flatMap(churn),
  W48: agents('b0..b1', atRate(5, { size: oneOf(4 * MiB), asking: { kind: 'closed', open: (t) => (t < ONSET_S ? 1 : 32), thinkS: 0.005 } })),
  W49: agents('b0..b1', atRate(5, { size: oneOf(MiB, 4 * MiB, 16 * MiB), asking: { kind: 'burst', count: (t) => (t < ONSET_S ? 1 : 8), everyS: 0.5 } })),
  W50: agents('b0..b1', atRate(5, { size: oneOf(4 * MiB), asking: { kind: 'burst', count: (t) => (t < ONSET_S ? 1 : 32), everyS: 4 } })),
  W53: agents('b0..b5', { ...PROMPT, outlierShare: 0.08 }),
  W54: agents('b0..b5', { ...PROMPT, noise: (random) => random.around(0.5) }),
  W55: agents('e0..e3', { ...ENGINE, asking: { kind: 'poisson', perSecond: 4, load: (t) => 1.2 + Math.sin(t / 600) } }),
  W57: agents('e0..e3', { ...ENGINE, size: growing, post: posts(5, 0.2, [0.03, 8], [0.5, 16 * KiB]) }),
  W58: agents('b0..b3', { ...PROMPT, post: posts(1, 0.1, [0.01, 4]) }),
  W59: agents('m0..m1', { ...PROMPT, inline: { share: 1, bytesPerUs: gigabytes(8), us: 5 } }),
  W60: [...agents('b0', onOneCard(always(1))), ...agents('c0..c2', onOneCard((t) => (t < ONSET_S ? 1 : 8)))],
  W61: [...agents('b0..b5', PROMPT), ...agents('n0', { ...ENGINE, size: oneOf(MiB), fromS: 600 })],
  W62: agents('b0..b3', { ...PROMPT, asking: { kind: 'poisson', perSecond: 12, load: (t) => (t < ONSET_S ? 1 : 2.5) } }),
  W63: agents('b0..b3', { ...PROMPT, size: (random, t) => (t < 700 || random.uniform() < 0.5 ? random.of(FOUR_SIZES) : 512 * KiB) }),
  W64: agents('e44..e47', { ...ENGINE, asking: { kind: 'burst', count: () => 12, everyS: 3 } }),
  W65: agents('b0..b1', { ...PROMPT, size: (_, t) => (t < ONSET_S ? 17 : 31) * MiB }),
} satisfies Readonly<Record<string, World>>;
