/** A frame of top: the CPU time from new totals to the text for the terminal, which other programs do not change. */
import { Tracker } from '../dist/top/tracker.js';
import { frame } from '../dist/top/screen/frame.js';
import { INITIAL } from '../dist/top/screen/keys.js';
import { Gathering, sceneOf } from '../dist/top/screen/scene.js';
import { SteadyOrder } from '../dist/top/screen/steady-order.js';
import { terminalText } from '../dist/top/screen/terminal-text.js';
import { plural, quantile, round } from './support/measure.mjs';

export const title = 'CPU time of a frame of top, milliseconds';

const SCREENS = [
  { agents: 8, columns: 80, rows: 24 },
  { agents: 64, columns: 120, rows: 40 },
  { agents: 300, columns: 200, rows: 50 },
];
/** Most CPU time for a frame of new numbers, milliseconds. */
const LIMIT_MS = 15;
const FACTS = { origin: { kind: 'rings', name: '/dev/shm/nixl', directories: ['/dev/shm/nixl'] } };

export function run({ quick }) {
  return SCREENS.map((screen) => ({ ...screen, ...measure(screen, quick ? 20 : 400) }));
}

function measure({ agents, columns, rows }, frames) {
  const [tracker, gathering, order] = [new Tracker(), new Gathering(), new SteadyOrder()];
  const around = { columns, rows, origin: '/dev/shm/nixl', unicode: true };
  const [fresh, again, bytes] = [[], [], []];
  // The first quarter warms up, and fills the graphs.
  for (let second = -frames / 4; second < frames; second++) {
    const sample = sampleAt(second + frames, agents);
    const begin = process.cpuUsage();
    gathering.add(tracker.add(sample));
    const draw = () => {
      const scene = sceneOf(gathering.picture, { ...INITIAL, sort: 'tx' }, order, false);
      return terminalText(frame(scene, INITIAL, around).lines, columns, true);
    };
    const text = draw();
    const drawn = process.cpuUsage();
    draw();
    const redrawn = process.cpuUsage();
    if (second < 0) continue;
    fresh.push(cpuMs(begin, drawn));
    again.push(cpuMs(drawn, redrawn));
    bytes.push(Buffer.byteLength(text));
  }
  return { fresh: quantile(fresh), slowest: quantile(fresh, 0.99), again: quantile(again), bytes: quantile(bytes) };
}

/** All threads: a garbage collection may help itself with others. */
function cpuMs(begin, end) {
  return (end.user - begin.user + end.system - begin.system) / 1_000;
}

/** Totals of agents whose rates differ and change. */
function sampleAt(second, count) {
  const agents = Array.from({ length: count }, (_, i) => ({
    id: `ring ${i}`,
    agent: `prefill-llama70b-tp${i}`,
    name: `prefill-llama70b-tp${i}`,
    life: 'alive',
    pid: 1_000 + i,
    txBytes: Math.round((second + Math.sin((second + i) / 7)) * (1 + i) * 5e6),
    rxBytes: second * 1e6,
    txRequests: second * 200,
    rxRequests: 0,
    errors: [i % 50 === 0 ? second : 0],
    errorStatuses: ['backend'],
    dropped: 0,
    lost: 0,
    suspect: false,
    fill: (i % 20) / 20,
    idleMs: 20,
    unused: false,
    transferTimesUs: { scale: 4, zeroCount: 0, offset: 40, counts: new Float64Array(120).fill(second * (1 + (i % 3))) },
    postTimesUs: { scale: 4, zeroCount: 0, offset: 10, counts: new Float64Array(40).fill(second) },
  }));
  return { takenMs: second * 1_000, agents, notes: [], facts: FACTS };
}

export function caseOf({ agents, columns, rows }) {
  return `${plural(agents, 'agent')}, ${columns}x${rows}`;
}

export function columnsOf({ fresh, slowest, again, bytes }) {
  return {
    'new numbers, p50': round(fresh, 1),
    'new numbers, p99': round(slowest, 1),
    'after a key': round(again, 1),
    kB: round(bytes / 1000, 1),
  };
}

export function violations(rows) {
  const tooSlow = rows.filter(({ fresh }) => fresh > LIMIT_MS);
  return tooSlow.map((row) => `${caseOf(row)}: ${round(row.fresh, 1)} ms, at most ${LIMIT_MS}`);
}
