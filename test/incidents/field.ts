/** Inputs by the numbers of operators' reports, and what must be said of each. */
import type { Case, Label } from './cases.js';
import { KiB, MiB } from './world/programs.js';
import type { ScriptedAgent, ScriptedTransfers } from './world/script.js';

/** Time of healthy numbers before most of them. */
const HEALTHY_S = 45;

const late =
  <Value>(before: Value, after: Value, fromS = HEALTHY_S) =>
  (t: number): Value =>
    t < fromS ? before : after;
const flow = (
  everyS: number,
  bytes: number,
  ms: readonly [number, number],
  postUs: readonly [number, number],
): ScriptedTransfers => ({
  everyS,
  bytes,
  us: late(ms[0] * 1000, ms[1] * 1000),
  postUs: late(...postUs),
});
const agent = (name: string, ...transfers: ScriptedTransfers[]): ScriptedAgent => ({ name, transfers });

function input(
  number: number,
  name: string,
  seconds: number,
  script: readonly ScriptedAgent[],
  { alarms = [], notes = [] }: { alarms?: Label[]; notes?: Case['notes'] } = {},
): Case {
  return { name: `field-${number}-${name}`, kind: 'field', world: [], script, seconds, faults: [], alarms, notes };
}

const said = (kind: string, name: string, byS: number, fromS = HEALTHY_S): Label => ({
  kind,
  agents: [name],
  fromS,
  byS,
});
const note = (kind: string, ...agents: string[]) => ({ kind, agents });
const MB = 1e6;

// prettier-ignore
export const FIELD: readonly Case[] = [
  input(1, 'fast-transport-lost', 180, [agent('a', flow(0.1, 64 * MB, [2.6, 213], [160, 1500]))],
    { alarms: [said('slow-transfers', 'a', 60)] }),
  input(2, 'one-direction', 180, [agent('reads', flow(0.5, 100 * MB, [200, 200], [50, 50])),
    agent('writes', { ...flow(0.5, 100 * MB, [2, 2], [50, 50]), direction: 'tx' })],
    { notes: [note('uneven', 'reads')] }),
  input(3, 'one-rank-at-half', 300, [0, 1, 2, 3].map((rank) => agent(`tp${rank}`, flow(0.25, 25 * MB, [0.54, rank === 3 ? 1.08 : 0.54], [40, 40]))),
    { alarms: [said('slow-transfers', 'tp3', 182)] }),
  input(3, 'one-rank-at-half-later', 360, [0, 1, 2, 3].map((rank) => agent(`tp${rank}`, { everyS: 0.25, bytes: 25 * MB, postUs: () => 40,
    us: late(540, rank === 3 ? 1080 : 540, 120) })),
    { alarms: [said('slow-transfers', 'tp3', 182, 120)] }),
  input(4, 'queue-not-polling', 240, [agent('a', flow(0.5, 690.54 * MB, [38, 500], [165, 165]), flow(0.5, 1536, [37.8, 499.8], [12, 12]))],
    { alarms: [said('slow-transfers', 'a', 120)] }),
  input(5, 'storage', 180, [agent('a', flow(0.2, 128 * MB, [9, 60], [60, 11_100]))],
    { alarms: [said('slow-transfers', 'a', 60)] }),
  input(6, 'two-modes', 240, [agent('a', { everyS: 0.1, bytes: 37.7 * MB, postUs: () => 60,
    us: (t, random) => (t > HEALTHY_S && random.uniform() < 0.6 ? 25_100 : 1714) })],
    { alarms: [said('slow-transfers', 'a', 182)] }),
  input(6, 'mild', 240, [agent('a', flow(1, 3620 * MB, [389, 603], [60, 60]))]),
  input(7, 'few-and-huge', 600, [agent('a', { everyS: late(0.5, 5), bytes: 300 * MB, postUs: () => 60,
    us: (t, random) => (t < HEALTHY_S ? 350_000 : random.between(90, 210) * 1e6) })],
    { alarms: [said('slow-transfers', 'a', 400)] }),
  input(7, 'one-a-second', 300, [agent('a', flow(1, 400 * MB, [90, 30_000], [60, 60]))],
    { alarms: [said('slow-transfers', 'a', 120)] }),
  input(8, 'cold-start', 180, [agent('other', flow(0.2, 80 * MB, [12, 12], [50, 50])), { ...agent('a',
    { ...flow(60, 80 * MB, [38_000, 38_000], [37_900_000, 37_900_000]), fromS: 12, untilS: 60 },
    { ...flow(0.2, 80 * MB, [12, 12], [50, 50]), fromS: 60 }), fromS: 10 }],
    { notes: [note('cold-start', 'a')] }),
  input(9, 'cut-into-pieces', 180, [agent('a', flow(0.2, 64 * MB, [3.3, 41], [700, 33_000]))],
    { alarms: [said('slow-posts', 'a', 60)] }),
  input(10, 'creep', 240, [agent('a', { everyS: 0.1, bytes: 20 * MB, postUs: () => 40, us: (t) => 1000 * 1.02 ** Math.max(0, t - HEALTHY_S) })],
    { alarms: [said('slow-transfers', 'a', 120)] }),
  input(11, 'all-from-the-start', 180, [0, 1, 2, 3, 4, 5, 6, 7].map((rank) => agent(`tp${rank}`, flow(0.25, 32 * MB, [5.8, 5.8], [40, 40])))),
  input(12, 'nothing-ever-moved', 240, [agent('p'), agent('d')], { notes: [note('unused', 'p', 'd')] }),
  input(13, 'canceled-then-good', 180, [{ ...agent('a', { ...flow(0.25, MiB, [1, 1], [20, 20]), fromS: 2 }),
    events: [{ event: 'agent_err_canceled', value: 1, everyS: 0.12, untilS: 2 }] }],
    { alarms: [said('failing', 'a', 8, 0)] }),
  input(14, 'one-failure-of-150', 180, [{ ...agent('a', flow(0.1, 256 * KiB, [1, 1], [20, 20])),
    events: [{ event: 'agent_err_canceled', value: 1, everyS: 15, untilS: 16 }] }],
    { alarms: [said('failing', 'a', 8, 15)] }),
  input(16, 'memory-only-grows', 180, [{ ...agent('a', flow(0.2, MiB, [1, 1], [20, 20])),
    events: [{ event: 'agent_memory_registered', value: 100 * MB, everyS: 1 }] }],
    { notes: [note('memory', 'a')] }),
  input(21, 'a-flush-a-minute', 600, [{ ...agent('a', flow(0.1, 4 * MiB, [2, 2], [20, 20])), flushS: 60 }]),
  input(21, 'slow-by-a-flush-a-minute', 600, [{ ...agent('a', { everyS: 0.1, bytes: 4 * MiB, postUs: () => 20, us: late(2000, 20_000, 240) }), flushS: 60 }],
    { alarms: [said('slow-transfers', 'a', 130, 240)] }),
];
