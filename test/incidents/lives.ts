/** Failures, ends and restarts of agents, and steps of the clock: what must be said of each. */
import type { Case, Label } from './cases.js';
import { MiB } from './world/programs.js';
import type { ScriptedAgent } from './world/script.js';

/** When it happens, in most of them. */
const AT_S = 60;
/** Time after which an agent that did not come back is missing. */
const SUCCESSOR_S = 180;
const SAMPLES_S = 8;
const STALL_S = 30;
/** In a finding about serve itself. */
const NO_AGENT = '';

interface Life {
  readonly fromS?: number;
  readonly endsS?: number;
  /** End of its transfers, if it goes on without. */
  readonly movesUntilS?: number;
  readonly us?: (t: number) => number;
  readonly events?: ScriptedAgent['events'];
  readonly marks?: ScriptedAgent['marks'];
  readonly everyS?: number;
}

function moves(
  name: string,
  { fromS = 0, endsS, movesUntilS, us = () => 1000, events = [], marks = [], everyS = 0.2 }: Life = {},
): ScriptedAgent {
  const transfers = [
    { everyS, bytes: MiB, us, postUs: () => 20, ...(movesUntilS !== undefined && { untilS: movesUntilS }) },
  ];
  return { name, fromS, ...(endsS !== undefined && { endsS }), transfers, events, marks };
}

function happens(
  name: string,
  kind: string,
  seconds: number,
  script: readonly ScriptedAgent[],
  {
    alarms = [],
    notes = [],
    ...more
  }: Partial<Pick<Case, 'alarms' | 'notes' | 'clock' | 'stall' | 'maintenance'>> = {},
): Case {
  return { name: `life-${name}`, kind, world: [], script, seconds, faults: [], alarms, notes, ...more };
}

const said = (kind: string, agents: readonly string[], fromS: number, byS: number): Label => {
  return { kind, agents, fromS, byS };
};
const ended = (...agents: string[]) => [{ kind: 'ended', agents }];
const failure = (event: string, value = 1) => ({ event, value, everyS: AT_S, untilS: AT_S + 1 });

const STATUSES = [
  ...['invalid_param', 'backend', 'not_found', 'mismatch', 'not_allowed', 'repost_active', 'unknown'],
  ...['not_supported', 'remote_disconnect', 'canceled', 'no_telemetry'],
];
const RING_MARKS = ['full', 'foreign', 'shared', 'unfollowed'] as const;
const RANKS = ['tp0', 'tp1', 'tp2', 'tp3'];
/** An engine that starts, fails within 20 s, and is started again. */
const LOOP = [0, 1, 2, 3, 4].map((i) => moves('a', { fromS: 30 * i, endsS: 30 * i + 20 }));
const slowLater = (t: number): number => (t < 260 ? 1000 : 10_000);

export const LIVES: readonly Case[] = [
  happens('one-failure', 'failures', 180, [moves('a', { events: [failure('agent_err_backend')] })], {
    alarms: [said('failing', ['a'], AT_S, SAMPLES_S)],
  }),
  happens(
    'each-status',
    'failures',
    180,
    [moves('a', { events: STATUSES.map((status) => failure(`agent_err_${status}`, 3)) })],
    { alarms: [said('failing', ['a'], AT_S, SAMPLES_S)] },
  ),
  happens('ends-with-errors', 'ends', 180, [moves('a', { endsS: AT_S + 2, events: [failure('agent_err_backend')] })], {
    alarms: [said('failing', ['a'], AT_S, SAMPLES_S), said('ended', ['a'], AT_S + 2, SAMPLES_S)],
  }),
  ...RING_MARKS.map((mark) =>
    happens(`ring-${mark}`, 'rings', 240, [moves('a', { marks: [{ mark, atS: AT_S }] }), moves('b')], {
      alarms: [said('incomplete', ['a'], AT_S, SAMPLES_S)],
    }),
  ),
  happens('stalled-reader', 'rings', 240, [moves('a', { everyS: 0.01 }), moves('b')], {
    stall: { fromS: AT_S, untilS: AT_S + STALL_S },
    alarms: [said('incomplete', [NO_AGENT], AT_S, SAMPLES_S), said('incomplete', ['a'], AT_S + STALL_S, SAMPLES_S)],
  }),
  happens('killed', 'ends', 420, [moves('a', { endsS: AT_S }), moves('b')], {
    alarms: [said('ended', ['a'], AT_S, SUCCESSOR_S + SAMPLES_S)],
    notes: ended('a'),
  }),
  happens('all-stop', 'ends', 420, [...RANKS.map((name) => moves(name, { endsS: AT_S })), moves('other')], {
    alarms: [said('ended', RANKS, AT_S, SUCCESSOR_S + SAMPLES_S)],
  }),
  happens('crash-loop', 'ends', 180, LOOP, { alarms: [said('ended', ['a'], 80, 60)] }),
  happens('planned-stop', 'ends', 420, [...RANKS.map((name) => moves(name, { endsS: AT_S })), moves('other')], {
    notes: ended(...RANKS),
    maintenance: [{ fromS: AT_S - 10, untilS: 600 }],
  }),
  happens('stops-after-idleness', 'ends', 720, [moves('a', { movesUntilS: AT_S, endsS: 300 }), moves('b')], {
    notes: [...ended('a'), { kind: 'quiet', agents: ['a'] }],
  }),
  happens('restarts', 'restarts', 420, [moves('a', { endsS: AT_S }), moves('a', { fromS: AT_S + 15 })]),
  happens('clock-back', 'clock', 420, [moves('a'), moves('b')], { clock: { atS: 200, byS: -3600 } }),
  happens('clock-ahead', 'clock', 420, [moves('a'), moves('b')], { clock: { atS: 200, byS: 3600 } }),
  happens('slow-after-clock-back', 'clock', 420, [moves('a', { us: slowLater }), moves('b')], {
    clock: { atS: 200, byS: -3600 },
    alarms: [said('slow-transfers', ['a'], 260, 60)],
  }),
  happens('slow-after-clock-ahead', 'clock', 420, [moves('a', { us: slowLater }), moves('b')], {
    clock: { atS: 200, byS: 3600 },
    alarms: [said('slow-transfers', ['a'], 260, 60)],
  }),
];
