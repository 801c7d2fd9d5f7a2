/** Running totals of one agent from the tallies of its events, and rates as text. Pure. */
import type { Exact } from '../../exact.js';
import { EVENTS } from '../../mapping/events.js';
import { Category, type EventTally } from '../../tally.js';
import { amount, bytes } from './formats.js';
import type { Counted, Interval } from './rates.js';

const TYPES = new Map(EVENTS.map(({ event, type }) => [event, type]));

export function totalsOf(events: readonly EventTally[]) {
  const tallyOf = (event: string): EventTally | undefined => {
    const wanted = TYPES.get(event)!;
    const atIndex = events[wanted]; // known types come first, in the order of their numbers
    return atIndex?.type === wanted ? atIndex : events.find(({ type }) => type === wanted);
  };
  const sum = (event: string): bigint => tallyOf(event)?.sum ?? 0n;
  const [txRequests, rxRequests] = [sum('agent_tx_requests_num'), sum('agent_rx_requests_num')];
  return {
    txBytes: sum('agent_tx_bytes'),
    rxBytes: sum('agent_rx_bytes'),
    txRequests,
    rxRequests,
    requests: txRequests + rxRequests,
    /** Bytes ever registered. */
    registered: sum('agent_memory_registered'),
    /** Events that the agent reports as dropped. */
    dropped: sum('agent_telemetry_events_dropped'),
    /** Number of events of category ERROR. */
    errors: events.reduce((all, { category, count }) => all + (category === Category.ERROR ? count : 0), 0),
    /** Microseconds. */
    transferTimes: tallyOf('agent_xfer_time')?.histogram?.exponential,
    postTimes: tallyOf('agent_xfer_post_time')?.histogram?.exponential,
  };
}

type Work = Readonly<Record<'txBytes' | 'rxBytes' | 'requests' | 'errors', Exact>>;
/** Increases per second: bytes, finished transfers, failed operations. */
export type Rates = Readonly<Record<'tx' | 'rx' | 'requests' | 'errors', number | undefined>>;

export function ratesOf<Agent extends Counted & Work>(interval: Interval<Agent>, agents: readonly Agent[]): Rates {
  const rate = (key: keyof Work): number | undefined => interval.rate(agents, (agent) => agent[key]);
  return { tx: rate('txBytes'), rx: rate('rxBytes'), requests: rate('requests'), errors: rate('errors') };
}

/** `tx 1.2 GB/s`, `rx 412 MB/s`, `310 req/s`, `0 errors/s` */
export function rateTexts({ tx = 0, rx = 0, requests = 0, errors = 0 }: Rates): string[] {
  return [`tx ${bytes(tx)}/s`, `rx ${bytes(rx)}/s`, `${amount(requests)} req/s`, `${amount(errors)} errors/s`];
}
