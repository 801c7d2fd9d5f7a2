/** Scenes for tests of the screen, and frames as text. */
import { expect } from 'vitest';
import type { ExponentialTally } from '../../../src/ground/exponential.js';
import type { AgentModel } from '../../../src/view/model/agent-model.js';
import { widthOf } from '../../../src/view/figures/table.js';
import type { Facts, TopAgent } from '../../../src/top/sampler.js';
import { frame } from '../../../src/top/screen/frame.js';
import { INITIAL, type Shown, type UiState } from '../../../src/top/screen/keys.js';
import type { Line } from '../../../src/top/screen/line.js';
import { Gathering, type Picture, type Scene, sceneOf, type Surroundings } from '../../../src/top/screen/scene.js';
import { SteadyOrder } from '../../../src/top/screen/steady-order.js';
import type { FleetView } from '../../../src/top/tracker.js';
import { failed } from '../../support/agent-models.js';
import { exponentialTally } from '../../support/exponential.js';
import { RINGS, sample, totals, viewsOf } from '../samples.js';

export const AT = new Date(2026, 10, 21, 8, 12, 31).getTime();
const MB = 1_000_000;
/** Samples of the fleet, a second apart. */
const SECONDS = 90;
const FULL_AT = 30;
const ENDED_AT = 60;

/** Pictures by their views: those of the fleet take a while. */
const pictures = new WeakMap<readonly FleetView[], Picture>();

function pictureAfter(views: readonly FleetView[]): Picture {
  const known = pictures.get(views);
  if (known !== undefined) return known;
  const gathering = new Gathering();
  for (const view of views) gathering.add(view);
  pictures.set(views, gathering.picture!);
  return gathering.picture!;
}

export function sceneAfter(
  views: readonly FleetView[],
  state: UiState,
  details?: Partial<AgentModel>,
  frozen = false,
): Scene {
  return sceneOf(pictureAfter(views), state, new SteadyOrder(), frozen, { details });
}

export interface Framed {
  readonly lines: readonly Line[];
  readonly shown: Shown;
  /** Without blanks at the ends of lines. */
  readonly text: string;
}

/** Draws a frame, and checks that it has the size of the terminal. */
export function framed(scene: Scene, state: UiState, given: Partial<Surroundings> = {}): Framed {
  const around = { columns: 80, rows: 24, origin: '/dev/shm/nixl', unicode: true, ...given };
  const { lines, shown } = frame(scene, state, around);
  const texts = lines.map((line) => line.map(({ text }) => text).join(''));
  expect(texts).toHaveLength(around.rows);
  for (const text of texts) expect(widthOf(text)).toBeLessThanOrEqual(around.columns);
  return { lines, shown, text: texts.map((text) => `${text.trimEnd()}\n`).join('') };
}

export function frameAfter(
  views: readonly FleetView[],
  state: Partial<UiState> = {},
  around: Partial<Surroundings> = {},
  details?: Partial<AgentModel>,
): Framed {
  const full = { ...INITIAL, ...state };
  return framed(sceneAfter(views, full, details), full, around);
}

// --- the fleet: 64 agents, of which four have problems ---

const NAMES = ['prefill', 'decode'].flatMap((role) => Array.from({ length: 32 }, (_, i) => `${role}-llama70b-tp${i}`));

/** Transfers of an agent in a second: most take 0.4 ms, some up to 6 ms. */
function timesOf(slowestUs: number): ExponentialTally {
  const values: [us: number, count: number][] = [
    [387, 150],
    [984, 40],
    [slowestUs, 4],
  ];
  return exponentialTally(values.flatMap(([us, count]) => Array<number>(count).fill(us)));
}

const USUAL = timesOf(2_900);
const SLOW = timesOf(6_000);

function times(tally: ExponentialTally, factor: number): ExponentialTally {
  return { ...tally, counts: Array.from(tally.counts, (count) => count * factor) };
}

function fleetAgent(name: string, i: number, second: number): TopAgent {
  const isPrefill = i < 32;
  const wave = 10 + second + 5 * Math.sin((second + i) / 9);
  const rate = (500 + ((i * 37) % 600)) * MB;
  const hasEnded = name === 'decode-llama70b-tp11' && second >= ENDED_AT;
  const active = hasEnded ? 70 : wave;
  const full = name === 'prefill-llama70b-tp5' ? Math.max(0, second - FULL_AT) * 2 : 0;
  const failing = name === 'prefill-llama70b-tp11' || name === 'prefill-llama70b-tp27';
  const errors = failing ? Math.floor((second * (i + 30)) / 10) : 0;
  return totals(name, {
    startTimeMs: AT - 22_000_000,
    life: hasEnded ? 'dead' : 'alive',
    pid: 48_100 + i,
    txBytes: Math.round(active * (isPrefill ? rate : rate / 100)),
    rxBytes: Math.round(active * (isPrefill ? rate / 90 : rate / 2)),
    txRequests: Math.round(active * 194),
    ...failed(errors > 0 ? { remote_disconnect: errors - 1, canceled: 1 } : {}),
    memoryBytes: 20_400 * MB,
    memoryApproximate: false,
    foundFull: full,
    capacity: 4_096,
    fill: full > 0 ? 1 : (3 + (i % 10)) / 100,
    idleMs: name === 'decode-llama70b-tp3' ? 754_000 : 20,
    gpus: String(i % 8),
    transferTimesUs: times(i % 7 === 0 ? SLOW : USUAL, hasEnded ? ENDED_AT : second),
  });
}

let fleet: FleetView[] | undefined;

/** Views of a minute and a half. A ring is full from the 30th second on, and an agent ends in the 60th. */
export function fleetViews(): readonly FleetView[] {
  if (fleet !== undefined) return fleet;
  const samples = Array.from({ length: SECONDS + 1 }, (_, second) =>
    sample(
      AT + second * 1_000,
      NAMES.map((name, i) => fleetAgent(name, i, second)),
    ),
  );
  return (fleet = viewsOf(...samples));
}

export const DETAILS: Partial<AgentModel> = {
  path: '/dev/shm/nixl/prefill-llama70b-tp5',
  wireVersion: 4,
  ring: { readPos: 1_204, writePos: 1_203, pending: 4_095 },
  events: 18_204_112,
  foundFull: 214,
  foundFullMs: 97_000,
  restarts: 2,
  txSizes: exponentialTally([...Array<number>(310).fill(4_096), ...Array<number>(2_104).fill(2 ** 22)], 0),
  rxSizes: exponentialTally([...Array<number>(32).fill(4_096), 2 ** 20], 0),
  registeredBytes: 22_000 * MB,
  uid: 1_000,
  rank: '5',
  gpuModels: ['NVIDIA H200'],
  attributes: { 'k8s.pod.name': 'vllm-prefill-7c9f4-x2k5' },
};

export const SERVE: Facts = { ...RINGS, origin: { kind: 'serve', name: 'gpu-node-17:9464', directories: [] } };
