/** Figures of the runs of both sides, joined to one multiple with its interval. Pure. */
import { estimatedFactor } from './chance.js';
import type { RunFigure } from './run-figure.js';

/**
 * Logarithm by which figures of equal runs differ for reasons that no run shows from inside, such as where memory and threads were
 * placed: their standard deviation, at least.
 */
const RUN_SPREAD = 0.06;

/** How many times as much the second side has, and between which multiples the true one lies. */
export interface Multiple {
  readonly multiple: number;
  readonly low: number;
  readonly high: number;
}

interface JoinedSide {
  readonly log: number;
  readonly squareBelow: number;
  readonly squareAbove: number;
}

/** `turns`: how often the sides took turns: 1 if all runs of one were before those of the other. */
export function multipleOf(a: readonly RunFigure[], b: readonly RunFigure[], turns: number, sure: number): Multiple {
  const usual = (sure * RUN_SPREAD) ** 2 / turns;
  const excess = squareExcess(a, b, sure);
  const [sideA, sideB] = [a, b].map((runs) => sideOf(runs, usual, excess)) as [JoinedSide, JoinedSide];
  const log = sideB.log - sideA.log;
  return {
    multiple: Math.exp(log),
    low: Math.exp(log - Math.sqrt(sideB.squareBelow + sideA.squareAbove)),
    high: Math.exp(log + Math.sqrt(sideB.squareAbove + sideA.squareBelow)),
  };
}

/** The squared half width of each interval adds up, as variances do, on the side that matters. */
function sideOf(runs: readonly RunFigure[], usual: number, excess: number): JoinedSide {
  const { length } = runs;
  const mean = (of: (run: RunFigure) => number): number => runs.reduce((sum, run) => sum + of(run), 0) / length;
  return {
    log: mean(({ log }) => log),
    squareBelow: (mean(({ below }) => below ** 2) + excess) / length + usual,
    squareAbove: (mean(({ above }) => above ** 2) + excess) / length + usual,
  };
}

/** Squared half width by which one run differs from others of its side, beyond what is usual and what the run itself shows. */
function squareExcess(a: readonly RunFigure[], b: readonly RunFigure[], sure: number): number {
  const freedom = a.length + b.length - 2;
  if (freedom === 0) return 0;
  const variance = (squaresAroundMean(a) + squaresAroundMean(b)) / freedom;
  const runs = [...a, ...b];
  const inside = runs.reduce((sum, { below, above }) => sum + ((below + above) / 2 / sure) ** 2, 0) / runs.length;
  return Math.max(0, variance - inside - RUN_SPREAD ** 2) * estimatedFactor(sure, freedom) ** 2;
}

function squaresAroundMean(runs: readonly RunFigure[]): number {
  const mean = runs.reduce((sum, { log }) => sum + log, 0) / runs.length;
  return runs.reduce((sum, { log }) => sum + (log - mean) ** 2, 0);
}
