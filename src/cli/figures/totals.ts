/** Running totals of one agent from the tallies of its events, and the line of rates that demo prints. Pure. */
import { Category, EVENTS } from '../../mapping/index.js';
import type { AgentSnapshot, EventTally, Snapshot } from '../../shm-bridge/types.js';
import { amount, bytes } from './formats.js';
import { type Buckets, Interval } from './rates.js';

const TYPES = new Map(EVENTS.map(({ event, type }) => [event, type]));

export interface Totals {
  readonly txBytes: bigint;
  readonly rxBytes: bigint;
  readonly txRequests: bigint;
  readonly rxRequests: bigint;
  /** Bytes ever registered. */
  readonly registered: bigint;
  /** Events that the agent reports as dropped. */
  readonly dropped: bigint;
  /** Number of events of category ERROR. */
  readonly errors: number;
  /** Microseconds. */
  readonly transferTimes: Buckets | undefined;
  readonly postTimes: Buckets | undefined;
}

export function totalsOf(events: readonly EventTally[]): Totals {
  const tallyOf = (event: string): EventTally | undefined => events.find(({ type }) => type === TYPES.get(event));
  const sum = (event: string): bigint => tallyOf(event)?.sum ?? 0n;
  return {
    txBytes: sum('agent_tx_bytes'),
    rxBytes: sum('agent_rx_bytes'),
    txRequests: sum('agent_tx_requests_num'),
    rxRequests: sum('agent_rx_requests_num'),
    registered: sum('agent_memory_registered'),
    dropped: sum('agent_telemetry_events_dropped'),
    errors: events.reduce((all, { category, count }) => all + (category === Category.ERROR ? count : 0), 0),
    transferTimes: tallyOf('agent_xfer_time')?.histogram,
    postTimes: tallyOf('agent_xfer_post_time')?.histogram,
  };
}

/** Increases per second. */
export interface Rates {
  /** Bytes. */
  readonly tx: number | undefined;
  readonly rx: number | undefined;
  readonly requests: number | undefined;
  readonly errors: number | undefined;
}

/** `tx 1.2 GB/s`, `rx 412 MB/s`, `310 req/s`, `0 errors/s` */
export function rateTexts({ tx = 0, rx = 0, requests = 0, errors = 0 }: Rates): string[] {
  return [`tx ${bytes(tx)}/s`, `rx ${bytes(rx)}/s`, `${amount(requests)} req/s`, `${amount(errors)} errors/s`];
}

/** `2 agents · tx 1.2 GB/s · rx 412 MB/s · 310 req/s · 0 errors/s · 0 lost` */
export function rateLine(before: Snapshot | undefined, after: Snapshot): string {
  const now = withTotals(after);
  const interval = new Interval(before && withTotals(before), now);
  const rate = (counter: (totals: Totals) => bigint | number) => interval.rate(now.agents, counter);
  const rates = {
    tx: rate(({ txBytes }) => txBytes),
    rx: rate(({ rxBytes }) => rxBytes),
    requests: rate(({ txRequests, rxRequests }) => txRequests + rxRequests),
    errors: rate(({ errors }) => errors),
  };
  // Losses are totals, not rates: one lost event is worth a note for longer than one line.
  const lost = now.agents.reduce((all, { dropped }) => all + dropped, 0n);
  const full = after.agents.reduce((all, { foundFull }) => all + foundFull, 0);
  const fullText = full === 0 ? [] : [`rings found full ${amount(full)} times: more events may be lost`];
  return [agentCount(after), ...rateTexts(rates), `${amount(Number(lost))} lost`, ...fullText].join(' · ');
}

function withTotals({ takenMs, agents }: Snapshot) {
  const totals = ({ id, startTimeMs, events }: AgentSnapshot) => ({ id, startTimeMs, ...totalsOf(events) });
  return { takenMs, agents: agents.map(totals) };
}

function agentCount({ agents }: Snapshot): string {
  const present = agents.filter(({ exported, life }) => exported && life !== 'dead').length;
  return present === 1 ? '1 agent' : `${present} agents`;
}

/** Number of all events of all agents. */
export function countedEvents({ agents }: Snapshot): number {
  return agents.reduce((sum, { events }) => sum + events.reduce((all, { count }) => all + count, 0), 0);
}
