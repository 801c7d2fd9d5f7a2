/** Which agents' bytes a counter carries: the set of agents whose bytes explain it best. Pure. */

/** An answer about one agent. `undecided`: the counter fits with its bytes and without them. */
export type Portion = 'certain' | 'likely' | 'not' | 'undecided';

/** Bytes of a counter for each byte of an agent: headers of packets add up to 13 % at small frames. */
const LEAST_RATIO = 0.96;
const MOST_RATIO = 1.15;
/** The same for a set that only an even pace supports: of nine agents, eight with more headers would look like all. */
const MOST_LIKELY_RATIO = 1.1;
/** Below this part of an agent's bytes a counter carries none of it: acknowledgements take up to 3 %. */
const NOTHING = 0.06;
/** Bytes reach a counter and the ring at different moments of a window. */
const NOISE = 0.03;
const NOISE_BYTES = 64 * 1024;
/** A set must explain the counter so many times better than any set that differs in the agent. */
const CLEARLY = 3;
/** Other traffic of at most this part counts as none. */
const NO_OTHERS = 0.08;
/** All sets of so many agents are tried: 1024 at most. Few windows allow fewer agents. */
const MOST_AGENTS = 10;
const WINDOWS_EACH = 2;
/** Largest part of an agent's bytes that the best set may leave unexplained, if the counter carries none of them. */
const MOST_LEFT = 0.4;

/** Below this part of the squares, bytes do not change: sums of products are not more exact. */
const EVEN = 1e-9;
const LEAST_POINTS = 4;

interface Fit {
  /** Bit i: agent i. */
  readonly set: number;
  /** Sum of squared errors, with what noise explains. */
  readonly error: number;
  /** Bytes of others in a window, and bytes of the counter for each byte of the set. */
  readonly others: number;
  readonly ratio: number;
  /** False if the counter follows the set, but by another part than all of its bytes. */
  readonly isWhole: boolean;
}

export interface CounterShare {
  readonly agents: readonly Portion[];
  /** Bytes of the counter for each byte of those that it carries. */
  readonly ratio: number;
}

/** `counter`: bytes in each window. `moved`: bytes of each agent in each window. */
export function carriedBytes(counter: readonly number[], moved: readonly (readonly number[])[]): CounterShare {
  const total = sumOf(counter);
  // A counter cannot carry what is more than itself.
  const open = moved.flatMap((bytes, i) => (total <= NOTHING * sumOf(bytes) ? [] : [i]));
  const answers = moved.map((): Portion => 'not');
  if (open.length === 0) return { agents: answers, ratio: 0 };
  const rows = open.map((i) => moved[i]!);
  if (rows.length > MOST_AGENTS || rows.length * WINDOWS_EACH > counter.length) {
    for (const i of open) answers[i] = 'undecided';
    return { agents: answers, ratio: 0 };
  }
  const fits = fitsOf(counter, rows);
  const best = fits.reduce((least, fit) => (fit.error < least.error ? fit : least));
  const left = counter.map((bytes, window) => bytes - best.ratio * bytesOf(best.set, rows, window));
  open.forEach((agent, i) => {
    const answer = answerOf(1 << i, best, fits, total / counter.length);
    const { part, width } = partOf(left, rows[i]!);
    answers[agent] = answer === 'not' && part > width && part + width > MOST_LEFT ? 'undecided' : answer;
  });
  return { agents: answers, ratio: best.ratio };
}

function answerOf(agent: number, best: Fit, fits: readonly Fit[], mean: number): Portion {
  const isIn = (best.set & agent) !== 0;
  if (isIn && !best.isWhole) return 'undecided';
  let against = Infinity;
  for (const { set, error } of fits) if (((set & agent) !== 0) !== isIn) against = Math.min(against, error);
  if (against > CLEARLY * best.error) return isIn ? 'certain' : 'not';
  // At an even pace any traffic explains a counter. One set that explains all of it is likely.
  const alone = fits.filter(
    ({ set, others, ratio, error, isWhole }) =>
      isWhole && set !== 0 && ratio <= MOST_LIKELY_RATIO && others <= NO_OTHERS * mean && error <= CLEARLY * best.error,
  );
  const within = alone.filter(({ set }) => (set & agent) !== 0).length;
  if (alone.length === 0 || (within > 0 && within < alone.length)) return 'undecided';
  return within > 0 ? 'likely' : 'not';
}

/** Sums over windows, of which lines follow: `x` bytes of agents, `y` of the counter. */
interface Sums {
  readonly windows: number;
  readonly x: number;
  readonly y: number;
  readonly xx: number;
  readonly xy: number;
  readonly yy: number;
}

/** Returns the best line of the counter over each set of agents. No set is added up by windows. */
function fitsOf(counter: readonly number[], rows: readonly (readonly number[])[]): Fit[] {
  const [windows, y, yy] = [counter.length, sumOf(counter), product(counter, counter)];
  const noise = counter.reduce((sum, bytes) => sum + (NOISE * bytes + NOISE_BYTES) ** 2, 0);
  const products = rows.map((one) => rows.map((other) => product(one, other)));
  const single = rows.map((row, i) => ({ x: sumOf(row), xx: products[i]![i]!, xy: product(row, counter) }));
  const sums: Sums[] = [{ windows, x: 0, y, xx: 0, xy: 0, yy }];
  for (let set = 1; set < 2 ** rows.length; set++) {
    const last = 31 - Math.clz32(set);
    const others = set ^ (1 << last);
    const crossed = products[last]!.reduce((sum, one, i) => ((others >> i) & 1 ? sum + one : sum), 0);
    const [before, added] = [sums[others]!, single[last]!];
    // A spread into these objects makes all of it six times as slow.
    const [x, xx, xy] = [before.x + added.x, before.xx + added.xx + 2 * crossed, before.xy + added.xy];
    sums.push({ windows, x, y, xx, xy, yy });
  }
  return sums.map((one, set) => fitOf(set, one, noise));
}

/** Keeps the line within what headers and other traffic allow. */
function fitOf(set: number, sums: Sums, noise: number): Fit {
  const { windows, x, y, xx, xy } = sums;
  const { part, width } = lineOf(sums);
  const isEven = width === Infinity;
  let ratio = clamp(isEven ? (x === 0 ? 1 : y / x) : part);
  let others = (y - ratio * x) / windows;
  if (others < 0) {
    ratio = clamp(xy / xx);
    others = 0;
  }
  const isWhole = part + width >= LEAST_RATIO && part - width <= MOST_RATIO;
  return { set, error: noise + errorOf(sums, ratio, others), others, ratio, isWhole };
}

/** Returns the part of the bytes that a counter carries, with the width of its uncertainty, from how both change. */
export function partOf(counter: readonly number[], moved: readonly number[]): ReturnType<typeof lineOf> {
  const [x, y] = [sumOf(moved), sumOf(counter)];
  const [xx, xy, yy] = [product(moved, moved), product(moved, counter), product(counter, counter)];
  return lineOf({ windows: counter.length, x, y, xx, xy, yy });
}

/** The width is infinite where the agents' bytes do not change. */
function lineOf(sums: Sums): { readonly part: number; readonly width: number } {
  const { windows, x, y, xx, xy } = sums;
  const spread = xx - (x * x) / windows;
  if (spread <= EVEN * xx || windows < LEAST_POINTS) return { part: 0, width: Infinity };
  const part = (xy - (x * y) / windows) / spread;
  const error = errorOf(sums, part, (y - part * x) / windows);
  return { part, width: 3 * Math.sqrt(error / (windows - 2) / spread) };
}

/** Returns the sum of the squared errors of a line. */
function errorOf({ windows, x, y, xx, xy, yy }: Sums, slope: number, base: number): number {
  const squares = yy + slope * slope * xx + windows * base * base;
  return Math.max(0, squares + 2 * (slope * base * x - base * y - slope * xy));
}

function bytesOf(set: number, rows: readonly (readonly number[])[], window: number): number {
  return rows.reduce((sum, row, i) => ((set >> i) & 1 ? sum + row[window]! : sum), 0);
}

function clamp(ratio: number): number {
  return Math.min(MOST_RATIO, Math.max(LEAST_RATIO, ratio));
}

function product(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, i) => sum + value * other[i]!, 0);
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
