/**
 * Pages of NIXL's Prometheus exporters, release by release: names, labels and values for the work of a real agent, and
 * events that add up to the same. The comments HELP and TYPE are left out: the texts and types are not compared.
 */
import type { NixlLabels, NixlRelease } from '../../src/index.js';
import { EVENTS } from '../../src/mapping/index.js';
import type { RingOrder } from './ring-process.js';
import type { Sample } from './page.js';

interface Work {
  /** Values of the events in order, by base event name. */
  readonly [event: string]: readonly number[];
}

export interface NixlPage {
  readonly release: NixlRelease;
  readonly labels: NixlLabels;
  readonly wireVersion: number;
  readonly agent: string;
  readonly work: Work;
  readonly samples: readonly Sample[];
}

/** LOCAL_RANK of the agent's process. */
export const RANK = '3';
export const HOST = 'vm';

/** Labels `status` of `agent_errors_total`. */
// prettier-ignore
export const STATUSES = [
  'not_posted', 'invalid_param', 'backend', 'not_found', 'mismatch', 'not_allowed', 'repost_active', 'unknown',
  'not_supported', 'remote_disconnect', 'canceled', 'no_telemetry',
];
/** Labels `le` of both histograms. */
// prettier-ignore
export const BOUNDS = [
  '10', '25', '50', '100', '250', '500', '1000', '2500', '5000', '10000', '25000', '50000', '100000', '250000',
  '500000', '1000000', '5000000', '10000000', '+Inf',
];

const repeat = (count: number, value: number): number[] => Array<number>(count).fill(value);

/** Returns 40 times that add up to `sum`; the last one is `last`. */
function times(sum: number, last: number): number[] {
  const usual = Math.floor((sum - last) / 39);
  return [sum - last - 38 * usual, ...repeat(38, usual), last];
}

/** 20 writes and 20 reads of 4096 bytes, 2 MiB registered and deregistered in two calls, eight errors. */
const workOf = (transferTimes: readonly number[], postTimes: readonly number[]): Work => ({
  agent_tx_bytes: repeat(20, 4096),
  agent_rx_bytes: repeat(20, 4096),
  agent_tx_requests_num: repeat(20, 1),
  agent_rx_requests_num: repeat(20, 1),
  agent_memory_registered: repeat(2, 1_048_576),
  agent_memory_deregistered: repeat(2, 1_048_576),
  agent_xfer_time: transferTimes,
  agent_xfer_post_time: postTimes,
  agent_err_not_found: repeat(8, 1),
});

type Numbers = Readonly<Record<string, number>>;

const COUNTED: Numbers = {
  agent_tx_bytes_total: 81_920,
  agent_rx_bytes_total: 81_920,
  agent_tx_requests_num_total: 20,
  agent_rx_requests_num_total: 20,
  agent_memory_registered_total: 2_097_152,
  agent_memory_deregistered_total: 2_097_152,
};
const MEMORY_GAUGES: Numbers = { agent_memory_registered: 1_048_576, agent_memory_deregistered: 1_048_576 };
const LAST_BYTES: Numbers = {
  agent_tx_last_bytes: 4096,
  agent_rx_last_bytes: 4096,
  agent_memory_registered_last_bytes: 1_048_576,
  agent_memory_deregistered_last_bytes: 1_048_576,
};

const TRANSFER = ['tx', 'rx'];
const PERFORMANCE = ['xfer'];

/** Value of the label `category` in the releases that have it. */
function categoryOf(name: string): string {
  const [, word] = name.split('_');
  if (TRANSFER.includes(word!)) return 'NIXL_TELEMETRY_TRANSFER';
  return PERFORMANCE.includes(word!) ? 'NIXL_TELEMETRY_PERFORMANCE' : 'NIXL_TELEMETRY_MEMORY';
}

function plain(agent: string, numbers: Numbers, more: Record<string, string> = {}, hasCategory = false): Sample[] {
  return Object.entries(numbers).map(([name, value]) => ({
    name,
    labels: { hostname: HOST, agent_name: agent, ...more, ...(hasCategory ? { category: categoryOf(name) } : {}) },
    value,
  }));
}

function errors(agent: string, more: Record<string, string> = {}): Sample[] {
  return STATUSES.map((status) => ({
    name: 'agent_errors_total',
    labels: { hostname: HOST, agent_name: agent, ...more, status },
    value: status === 'not_found' ? 8 : 0,
  }));
}

/** `first`: the cumulative counts of the first buckets. Further buckets have the last of these counts. */
function histogram(
  agent: string,
  name: string,
  first: number[],
  sum: number,
  more: Record<string, string> = {},
): Sample[] {
  const labels = { hostname: HOST, agent_name: agent, ...more };
  const buckets = BOUNDS.map((le, i) => ({
    name: `${name}_bucket`,
    labels: { ...labels, le },
    value: first[i] ?? first.at(-1)!,
  }));
  return [
    ...buckets,
    { name: `${name}_count`, labels, value: first.at(-1)! },
    { name: `${name}_sum`, labels, value: sum },
  ];
}

const OF_PROCESS = { pid: 'X', agent_instance: '0', local_rank: RANK };

export const NIXL_PAGES: Readonly<Record<string, NixlPage>> = {
  '1.0.1': {
    release: '1.0',
    labels: 'prometheus',
    wireVersion: 1,
    agent: 'v',
    work: workOf(times(283, 7), times(226, 5)),
    samples: plain(
      'v',
      {
        agent_tx_bytes: 81_920,
        agent_rx_bytes: 81_920,
        agent_tx_requests_num: 20,
        agent_rx_requests_num: 20,
        ...MEMORY_GAUGES,
        agent_xfer_time: 7,
        agent_xfer_post_time: 5,
      },
      {},
      true,
    ),
  },
  '1.2.0': {
    release: '1.2',
    labels: 'prometheus',
    wireVersion: 2,
    agent: 'v',
    work: workOf(times(283, 7), times(226, 5)),
    samples: plain(
      'v',
      { ...COUNTED, ...MEMORY_GAUGES, agent_xfer_time_total: 283, agent_xfer_post_time_total: 226 },
      {},
      true,
    ),
  },
  '1.3.0': {
    release: '1.3',
    labels: 'prometheus',
    wireVersion: 3,
    agent: 'v',
    work: workOf(times(197, 7), times(167, 5)),
    samples: plain('v', { ...COUNTED, ...MEMORY_GAUGES, agent_xfer_time_total: 197, agent_xfer_post_time_total: 167 }),
  },
  '1.4.0': {
    release: '1.4',
    labels: 'prometheus',
    wireVersion: 4,
    agent: 'v',
    work: workOf(times(291, 7), times(234, 5)),
    samples: [
      ...plain('v', {
        ...COUNTED,
        ...LAST_BYTES,
        agent_xfer_time_total: 291,
        agent_xfer_post_time_total: 234,
        agent_xfer_time: 7,
        agent_xfer_post_time: 5,
        agent_telemetry_events_dropped_total: 0,
      }),
      ...errors('v'),
    ],
  },
  /** The agent had NIXL_TELEMETRY_ENABLED_METRICS set, to bytes written and errors. */
  main: {
    release: 'main',
    labels: 'prometheus',
    wireVersion: 4,
    agent: 'en',
    work: { agent_tx_bytes: repeat(20, 4096), agent_err_not_found: repeat(8, 1) },
    samples: [
      ...plain('en', {
        ...Object.fromEntries(Object.keys({ ...COUNTED, ...LAST_BYTES }).map((name) => [name, 0])),
        agent_tx_bytes_total: 81_920,
        agent_tx_last_bytes: 4096,
        agent_xfer_time_total: 0,
        agent_xfer_post_time_total: 0,
        agent_xfer_time: 0,
        agent_xfer_post_time: 0,
        agent_telemetry_events_dropped_total: 0,
      }),
      ...errors('en'),
      ...histogram('en', 'agent_xfer_time_us', [0], 0),
      ...histogram('en', 'agent_xfer_post_time_us', [0], 0),
    ],
  },
  'main, prometheus_mp': {
    release: 'main',
    labels: 'prometheus_mp',
    wireVersion: 4,
    agent: 'en',
    work: workOf(
      [...repeat(2, 26), ...repeat(15, 11), ...repeat(19, 9), ...repeat(4, 8)],
      [26, ...repeat(7, 11), ...repeat(15, 8), ...repeat(16, 7), 6],
    ),
    samples: [
      ...plain(
        'en',
        {
          ...COUNTED,
          ...LAST_BYTES,
          agent_xfer_time_total: 420,
          agent_xfer_post_time_total: 341,
          agent_xfer_time: 8,
          agent_xfer_post_time: 6,
          agent_telemetry_events_dropped_total: 0,
        },
        OF_PROCESS,
      ),
      ...errors('en', OF_PROCESS),
      ...histogram('en', 'agent_xfer_time_us', [23, 38, 40], 420, OF_PROCESS),
      ...histogram('en', 'agent_xfer_post_time_us', [32, 39, 40], 341, OF_PROCESS),
    ],
  },
};

/** Events of the page's work in that wire version. */
export function orderOf({ work, wireVersion }: NixlPage, path: string): RingOrder {
  const events = Object.entries(work).flatMap(([event, values]) => {
    const { type, wireVersion1Name, category } = EVENTS.find((row) => row.event === event)!;
    const key = wireVersion === 1 ? { name: wireVersion1Name ?? event, category } : { type, category };
    return values.map((value) => ({ ...key, value }));
  });
  return { path, wireVersion, events };
}

/** Sorted lines of NIXL's series. */
export function nixlLines(samples: readonly Sample[]): string[] {
  return samples
    .filter(({ name }) => name.startsWith('agent_'))
    .map(({ name, labels, value }) => {
      const pairs = Object.entries(labels).map(([key, text]) => `${key}="${text}"`);
      return `${name}{${pairs.sort().join(',')}} ${value}`;
    })
    .sort();
}
