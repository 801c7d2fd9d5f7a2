/** Random worlds and faults, in the shapes of the labelled cases: cases that no rule was tuned on. */
import type { Case } from './cases.js';
import { visibleOf } from './harness/visible.js';
import { agents, always, around, ENGINE, gigabytes, INLINE, KiB, MiB, oneOf, PROMPT } from './world/programs.js';
import { Random, seedOf } from './world/random.js';
import type { Asking, Fault, Program, World } from './world/shapes.js';

/** Time in which a finding must be said: a factor of 2 needs as long. */
const BY_S = 182;
/** Fewer transfers in half a minute, or a lower visible factor, make no incident that can be told from chance. */
const LEAST_TRANSFERS = 20;
const LEAST_FACTOR = { prompt: 2, engine: 2, inline: 2 };
const LEAST_POST_FACTOR = 3;
const SIZES = [16 * KiB, 64 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB];

type Shape = 'prompt' | 'engine' | 'inline';

interface Drawn {
  readonly shape: Shape;
  readonly program: Program;
  readonly count: number;
  /** Sizes that a fault can choose from; empty: any. */
  readonly sizes: readonly number[];
  readonly onsetS: number;
}

/** Returns the case with this number of a suite: two of three are incidents. */
export function randomCase(seed: number, index: number): Case {
  const random = new Random(seedOf(seed, `case ${index}`));
  const name = `random-${seed}-${index}`;
  return index % 3 === 2 ? oddity(name, random) : incident(name, random);
}

function incident(name: string, random: Random): Case {
  for (;;) {
    const drawn = draw(random);
    const kind = random.of(
      drawn.sizes.length > 1 ? (['link', 'size', 'class', 'post'] as const) : (['link', 'post'] as const),
    );
    const world = agents(namesOf(drawn, drawn.count), drawn.program);
    const concerned = concernedOf(random, world);
    const fault: Fault = { kind, agents: concerned, ...strengthOf(kind, drawn, random), fromS: drawn.onsetS };
    const what = kind === 'post' ? 'postUs' : 'timeUs';
    const least = kind === 'post' ? LEAST_POST_FACTOR : LEAST_FACTOR[drawn.shape];
    const isFair = concerned.every(
      (agent) => visibleOf(world, [fault], agent, what, least).transfers >= LEAST_TRANSFERS,
    );
    if (!isFair) continue;
    const label = kind === 'post' ? 'slow-posts' : 'slow-transfers';
    return {
      ...{ name, kind: `${kind}, ${drawn.shape}`, world, seconds: drawn.onsetS + BY_S + 8, faults: [fault], notes: [] },
      alarms: [{ kind: label, agents: concerned, fromS: drawn.onsetS, byS: BY_S }],
    };
  }
}

function draw(random: Random): Drawn {
  const shape = random.of<Shape>(['prompt', 'prompt', 'engine', 'inline']);
  const count = random.of([1, 2, 3, 4, 6, 8]);
  const onsetS = Math.round(random.between(300, 420));
  const bytesPerUs = gigabytes(random.of([2, 5, 12, 25]));
  const perSecond = random.between(4, 10);
  const asking: Asking = { kind: 'poisson', perSecond };
  if (shape === 'prompt') {
    const sizes = SIZES.filter(() => random.uniform() < 0.6).slice(0, random.of([1, 2, 4]));
    if (sizes.length === 0) sizes.push(MiB);
    const closed: Asking = { kind: 'closed', open: always(random.of([1, 2, 4])), thinkS: random.between(0.1, 0.3) };
    const asks = random.uniform() < 0.25 ? closed : asking;
    return { shape, count, onsetS, sizes, program: { ...PROMPT, bytesPerUs, size: oneOf(...sizes), asking: asks } };
  }
  if (shape === 'engine') {
    const loop = { ms: random.between(3, 15), growth: random.between(0.05, 0.15) };
    const size = around(random.of([4, 8, 24]) * MiB, random.between(0.6, 1));
    return { shape, count, onsetS, sizes: [], program: { ...ENGINE, bytesPerUs, loop, size, asking } };
  }
  const bytes = Math.round(random.between(0.5, 4) * 16) * 64 * KiB;
  const loop = { ms: random.between(5, 12), growth: 0.15 };
  return { shape, count, onsetS, sizes: [bytes], program: { ...INLINE, loop, size: oneOf(bytes), asking } };
}

function strengthOf(
  kind: 'link' | 'size' | 'class' | 'post',
  { sizes }: Drawn,
  random: Random,
): Omit<Fault, 'kind' | 'fromS'> {
  const factor = 2 ** random.between(1.2, 5.5);
  if (kind === 'size') return { factor, fromBytes: random.of(sizes.slice(1)) };
  if (kind === 'class') return { factor: factor * 2, upToBytes: random.of(sizes) };
  return { factor };
}

function concernedOf(random: Random, world: World): string[] {
  const names = world.map(({ name }) => name);
  const share = random.uniform();
  if (share < 0.6) return [random.of(names)];
  return share < 0.8 ? names : names.slice(0, Math.ceil(names.length / 2));
}

const namesOf = ({ shape }: Pick<Drawn, 'shape'>, count: number, first = 0): string =>
  `${shape[0]!}${first}..${shape[0]!}${first + count - 1}`;

type Oddity = (drawn: Drawn, random: Random) => { readonly world: World; readonly faults?: readonly Fault[] };

const all = (kind: Fault['kind'], factor: number, { onsetS }: Drawn, more: Partial<Fault> = {}): Fault => ({
  kind,
  factor,
  fromS: onsetS,
  ...more,
});
const worldOf = (drawn: Drawn, more: Partial<Program> = {}): World =>
  agents(namesOf(drawn, drawn.count), { ...drawn.program, ...more });

/** Healthy changes that are not faults. */
const ODDITIES: Readonly<Record<string, Oddity>> = {
  late: (drawn, random) => {
    // Several sizes: with one, late asking and a slow link look alike.
    const program = { ...drawn.program, size: oneOf(...SIZES.slice(0, 4)) };
    const prompt = all('latency', random.between(500, 20_000), drawn);
    const fault = drawn.shape === 'prompt' ? prompt : all('late', random.between(3, 12), drawn);
    return { world: drawn.shape === 'prompt' ? worldOf({ ...drawn, program }) : worldOf(drawn), faults: [fault] };
  },
  burst: (drawn, random) => {
    const [before, after] = [random.of([1, 2, 4]), random.of([8, 16])];
    const count = (t: number): number => (t < drawn.onsetS ? before : after);
    return { world: worldOf(drawn, { asking: { kind: 'burst', count, everyS: random.between(0.8, 3) } }) };
  },
  concurrency: (drawn, random) => {
    const after = random.of([4, 8, 16]);
    const open = (t: number): number => (t < drawn.onsetS ? 1 : after);
    return { world: worldOf(drawn, { asking: { kind: 'closed', open, thinkS: random.between(0.1, 0.3) } }) };
  },
  restart: (drawn, random) => {
    const { onsetS, count, program } = drawn;
    const fromS = onsetS + Math.round(random.between(20, 60));
    const next = { ...program, fromS, warmMs: random.between(100, 800) };
    return { world: [...worldOf(drawn, { endsS: onsetS }), ...agents(namesOf(drawn, count, 10), next)] };
  },
  stalls: (drawn, random) => ({
    world: worldOf(drawn),
    faults: [all('stall', 1, drawn, { stallS: random.between(0.5, 2), everyS: 60 })],
  }),
  volume: (drawn, random) => ({
    world: worldOf(drawn),
    faults: [all('volume', random.of([0.05, 0.1, 0.3, 2.5]), drawn)],
  }),
  idle: (drawn) => {
    const load = (t: number): number => (t > drawn.onsetS - 100 && t < drawn.onsetS ? 0 : 1);
    return { world: worldOf(drawn, { asking: { kind: 'poisson', perSecond: 6, load } }) };
  },
  tails: (drawn, random) => ({
    world: worldOf(drawn, random.uniform() < 0.5 ? { outlierShare: 0.08 } : { noise: (each) => each.around(0.5) }),
  }),
};

function oddity(name: string, random: Random): Case {
  const kind = random.of(Object.keys(ODDITIES));
  const drawn = draw(random);
  const { world, faults = [] } = ODDITIES[kind]!(drawn, random);
  const seconds = drawn.onsetS + BY_S + 8;
  return { name, kind: `${kind}, ${drawn.shape}`, world, seconds, faults, alarms: [], notes: [] };
}
