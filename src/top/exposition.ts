/** Prometheus expositions as agents of top: either naming of this package, or NIXL's own exporter. Pure. */
import { type ExposedSample, exposedSamples } from '../ground/exposition-text.js';
import { oneLine } from '../ground/one-line.js';
import type { Buckets } from '../view/figures/time-figures.js';
import type { TopAgent } from './sampler.js';

type Sum = 'txBytes' | 'rxBytes' | 'txRequests' | 'rxRequests' | 'errors' | 'dropped' | 'lost' | 'foundFull';
type Last = 'up' | 'idleSeconds' | 'fill' | 'suspect';
type Time = 'transferTimesUs' | 'postTimesUs';

/** Meaning of a metric for its agent. `us`: microseconds per unit. `directions`: a sum for each value of the label. */
type Meaning =
  | { readonly sum: Sum }
  | { readonly directions: Readonly<Record<string, Sum>> }
  | { readonly last: Last }
  | { readonly time: Time; readonly us: number };

const MEANINGS = new Map<string, Meaning>([
  ['agent_tx_bytes_total', { sum: 'txBytes' }],
  ['agent_rx_bytes_total', { sum: 'rxBytes' }],
  // NIXL 1.0 and earlier.
  ['agent_tx_bytes', { sum: 'txBytes' }],
  ['agent_rx_bytes', { sum: 'rxBytes' }],
  ['agent_tx_requests_num', { sum: 'txRequests' }],
  ['agent_rx_requests_num', { sum: 'rxRequests' }],
  ['nixl_transfer_io_total', { directions: { transmit: 'txBytes', receive: 'rxBytes' } }],
  ['agent_tx_requests_num_total', { sum: 'txRequests' }],
  ['agent_rx_requests_num_total', { sum: 'rxRequests' }],
  ['nixl_transfer_requests_total', { directions: { transmit: 'txRequests', receive: 'rxRequests' } }],
  ['agent_errors_total', { sum: 'errors' }],
  ['nixl_errors_total', { sum: 'errors' }],
  ['agent_telemetry_events_dropped_total', { sum: 'dropped' }],
  ['nixl_telemetry_events_dropped_total', { sum: 'dropped' }],
  ['nixl_ring_lost_total', { sum: 'lost' }],
  ['agent_xfer_time_us_bucket', { time: 'transferTimesUs', us: 1 }],
  ['agent_xfer_post_time_us_bucket', { time: 'postTimesUs', us: 1 }],
  ['nixl_transfer_duration_bucket', { time: 'transferTimesUs', us: 1e6 }],
  ['nixl_transfer_post_duration_bucket', { time: 'postTimesUs', us: 1e6 }],
  ['nixl_agent_up', { last: 'up' }],
  ['nixl_agent_idle', { last: 'idleSeconds' }],
  ['nixl_ring_utilization', { last: 'fill' }],
  ['nixl_ring_suspect', { last: 'suspect' }],
  ['nixl_ring_full_total', { sum: 'foundFull' }],
]);

const DIRECTION = 'nixl_transfer_direction';
/** Labels that distinguish series of one agent. All others identify the agent. */
const SERIES_LABELS = new Set(['category', 'status', 'error_type', 'le', DIRECTION]);
/** Labels that only NIXL's own series can have, not those of this package. An empty label is no label. */
const PROCESS_LABELS = new Set(['pid', 'agent_instance', 'local_rank']);

/** Labels with the status of an error, in either naming. */
const STATUS_LABELS = ['status', 'error_type'];

/** NIXL's own exporter has series about its server. It runs in the agent's process, so that an answer shows its life. */
const EXPOSER = /^exposer_/m;

interface Gathered {
  readonly labels: Readonly<Record<string, string>>;
  readonly sums: Partial<Record<Sum, number>>;
  readonly lasts: Partial<Record<Last, number>>;
  readonly times: Partial<Record<Time, [upperUs: number, count: number][]>>;
  readonly statuses: Record<string, number>;
}

export function agentsIn(exposition: string): TopAgent[] {
  const agents = new Map<string, Gathered>();
  for (const series of exposedSamples(exposition, (name) => MEANINGS.has(name))) {
    const labels = Object.entries(series.labels).filter(
      ([name, value]) => !SERIES_LABELS.has(name) && !(value === '' && PROCESS_LABELS.has(name)),
    );
    const id = idOf(labels);
    let agent = agents.get(id);
    if (agent === undefined) {
      agents.set(id, (agent = { labels: Object.fromEntries(labels), sums: {}, lasts: {}, times: {}, statuses: {} }));
    }
    add(agent, series);
  }
  joinSeriesWithoutProcess(agents);
  const hosts = new Set([...agents.values()].map(({ labels }) => labels['hostname'] ?? ''));
  const isOfNixl = EXPOSER.test(exposition);
  return [...agents].map(([id, gathered]) => {
    const totals = totalsOf(id, gathered, hosts.size > 1);
    return isOfNixl && gathered.lasts.up === undefined ? { ...totals, life: 'alive' } : totals;
  });
}

function idOf(labels: readonly (readonly [name: string, value: string])[]): string {
  return JSON.stringify(labels.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Adds the series without labels of the process to each agent that has all their other labels. */
function joinSeriesWithoutProcess(agents: Map<string, Gathered>): void {
  const withoutProcess = new Set<string>();
  for (const [id, agent] of agents) {
    const shared = idOf(Object.entries(agent.labels).filter(([name]) => !PROCESS_LABELS.has(name)));
    const beside = shared === id ? undefined : agents.get(shared);
    if (beside === undefined) continue;
    withoutProcess.add(shared);
    Object.assign(agent.sums, { ...beside.sums, ...agent.sums });
    Object.assign(agent.lasts, { ...beside.lasts, ...agent.lasts });
    Object.assign(agent.times, { ...beside.times, ...agent.times });
    Object.assign(agent.statuses, { ...beside.statuses, ...agent.statuses });
  }
  for (const id of withoutProcess) agents.delete(id);
}

function add({ sums, lasts, times, statuses }: Gathered, { name, labels, value }: ExposedSample): void {
  if (Number.isNaN(value)) return;
  const meaning = MEANINGS.get(name)!;
  if ('last' in meaning) {
    lasts[meaning.last] = value;
  } else if ('time' in meaning) {
    const upper = labels['le'] === '+Inf' ? Infinity : Number(labels['le']) * meaning.us;
    (times[meaning.time] ??= []).push([upper, value]);
  } else {
    const sum = 'sum' in meaning ? meaning.sum : meaning.directions[labels[DIRECTION] ?? ''];
    if (sum !== undefined) sums[sum] = (sums[sum] ?? 0) + value;
    if (sum !== 'errors' || value <= 0) return;
    const status = STATUS_LABELS.map((label) => labels[label]).find((text) => text !== undefined) ?? 'unknown';
    statuses[status] = (statuses[status] ?? 0) + value;
  }
}

function totalsOf(id: string, { labels, sums, lasts, times, statuses }: Gathered, withHost: boolean): TopAgent {
  const { up, idleSeconds, fill, suspect } = lasts;
  const { dropped = 0 } = sums;
  const directory = labels['ring_directory'] ?? labels['nixl_ring_directory'];
  const place = [...(withHost ? [labels['hostname']] : []), directory].filter((part) => part !== undefined).join(' ');
  const agent = labels['agent_name'] ?? labels['nixl_agent_name'] ?? '?';
  return {
    id,
    agent,
    name: oneLine(agent),
    ...(place === '' ? {} : { place }),
    life: up === undefined ? 'unknown' : up === 0 ? 'dead' : 'alive',
    txBytes: sums.txBytes ?? 0,
    rxBytes: sums.rxBytes ?? 0,
    txRequests: sums.txRequests ?? 0,
    rxRequests: sums.rxRequests ?? 0,
    errors: Object.values(statuses),
    errorStatuses: Object.keys(statuses),
    dropped,
    lost: sums.lost ?? dropped,
    foundFull: sums.foundFull,
    suspect: suspect === 1,
    transferTimesUs: times.transferTimesUs && bucketsOf(times.transferTimesUs),
    postTimesUs: times.postTimesUs && bucketsOf(times.postTimesUs),
    fill,
    idleMs: idleSeconds && idleSeconds * 1000,
    unused: false,
  };
}

/** Separates the buckets: in an exposition each includes all smaller ones. */
function bucketsOf(cumulative: [upperUs: number, count: number][]): Buckets {
  const rising = cumulative.toSorted(([a], [b]) => a - b);
  const counts = rising.map(([, count], i) => count - (i === 0 ? 0 : rising[i - 1]![1]));
  const bounds = rising.map(([upper]) => upper).filter(Number.isFinite);
  return { bounds, counts: bounds.length < counts.length ? counts : [...counts, 0] };
}
