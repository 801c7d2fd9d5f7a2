/**
 * Columns of a table of agents, one row for each: top and the live page show those with their name. Pure; the live page uses this
 * module, too.
 */
import { type AgentModel, type AgentState, errorsOf, mayHaveLostMore, requestsOf } from './agent-model.js';
import { waysText } from '../../way/way.js';
import type { AgentRow } from './rows.js';

export interface AgentColumn {
  /** In `--sort`, and in the address of the page. */
  readonly id: string;
  /** Decides the text, the width and the place of unknown values. `share`: 0 to 1. `text`: not a quantity. */
  readonly unit: 'bytes' | 'bytesPerSecond' | 'perSecond' | 'count' | 'us' | 'ms' | 'share' | 'text';
  /** Undefined if it is unknown. */
  readonly value: (row: AgentRow) => number | undefined;
  /** Present for the unit `text`, where `value` gives only an order. */
  readonly text?: (agent: AgentModel) => string | undefined;
  /** Whether the value is only a bound. */
  readonly limit?: (row: AgentRow) => 'below' | 'above' | undefined;
  /** Its name in lines of `top --json`; those that are not plain numbers are in `agentObject()`. */
  readonly json?: string;
  /** Sum behind a rate, which key t of top shows in its place. */
  readonly total?: (agent: AgentModel) => number;
  readonly top?: {
    readonly heading: string;
    /** Least width of a terminal that shows it. A column also shows while it decides the order. */
    readonly from: number;
    /** Key that sorts by it. */
    readonly letter?: string;
    /** Neither in lines of top nor in `--sort`. */
    readonly screenOnly?: true;
  };
  readonly page?: {
    readonly heading: string;
    /** Width of the window from which it is shown, in pixels: a class of agents.css. Absent: always. */
    readonly from?: 901 | 1121 | 1700 | 2100;
    readonly tone?: Partial<Readonly<Record<AgentState, 'warn' | 'bad'>>>;
  };
}

const time = (times: 'transferTimeUs' | 'postTimeUs', of: 'p50' | 'p90' | 'p99' | 'max') =>
  ({
    unit: 'us',
    value: (row: AgentRow) => row[times]?.[of],
    limit: (row: AgentRow) => row[times]?.limits?.[of],
  }) as const;

function pathOf({ way }: AgentModel): string | undefined {
  return way && waysText(way);
}

export const AGENT_COLUMNS: readonly AgentColumn[] = [
  {
    id: 'tx',
    unit: 'bytesPerSecond',
    value: ({ txBytesPerSecond }) => txBytesPerSecond,
    json: 'txBytesPerSecond',
    total: ({ txBytes }) => txBytes,
    top: { heading: 'TX/s', from: 0, letter: 'T' },
    page: { heading: 'tx/s', tone: { incomplete: 'warn' } },
  },
  {
    id: 'rx',
    unit: 'bytesPerSecond',
    value: ({ rxBytesPerSecond }) => rxBytesPerSecond,
    json: 'rxBytesPerSecond',
    total: ({ rxBytes }) => rxBytes,
    top: { heading: 'RX/s', from: 0, letter: 'R' },
    page: { heading: 'rx/s' },
  },
  {
    id: 'requests',
    unit: 'perSecond',
    value: ({ requestsPerSecond }) => requestsPerSecond,
    json: 'requestsPerSecond',
    total: requestsOf,
    top: { heading: 'REQ/s', from: 62, letter: 'Q' },
    page: { heading: 'Requests/s', from: 901 },
  },
  {
    id: 'p50',
    ...time('transferTimeUs', 'p50'),
    top: { heading: 'P50', from: 100, letter: '5' },
    page: { heading: 'p50', from: 1700 },
  },
  { id: 'p90', ...time('transferTimeUs', 'p90'), top: { heading: 'P90', from: 200 } },
  {
    id: 'p99',
    ...time('transferTimeUs', 'p99'),
    top: { heading: 'P99', from: 46, letter: '9' },
    page: { heading: 'p99' },
  },
  { id: 'max', ...time('transferTimeUs', 'max'), top: { heading: 'MAX', from: 200, letter: 'M' } },
  {
    id: 'post',
    ...time('postTimeUs', 'p99'),
    top: { heading: 'POST', from: 140, letter: 'O' },
    page: { heading: 'Post p99', from: 1700 },
  },
  {
    id: 'errors',
    unit: 'perSecond',
    value: ({ errorsPerSecond }) => errorsPerSecond,
    json: 'errorsPerSecond',
    total: errorsOf,
    top: { heading: 'ERR/s', from: 54, letter: 'E' },
    page: { heading: 'Errors/s', tone: { failing: 'bad' } },
  },
  {
    id: 'memory',
    unit: 'bytes',
    value: ({ agent }) => agent.memoryBytes,
    top: { heading: 'MEMORY', from: 160, screenOnly: true },
    page: { heading: 'Memory', from: 1700 },
  },
  {
    id: 'lost',
    unit: 'count',
    value: ({ agent }) => agent.lost,
    limit: ({ agent }) => (mayHaveLostMore(agent) ? 'above' : undefined),
    top: { heading: 'LOST', from: 76, letter: 'L' },
    page: { heading: 'Lost', from: 2100 },
  },
  {
    id: 'fill',
    unit: 'share',
    value: ({ agent }) => agent.fill,
    json: 'fill',
    top: { heading: 'FILL', from: 70, letter: 'F' },
    page: { heading: 'Ring fill', from: 1121 },
  },
  { id: 'idle', unit: 'ms', value: ({ agent }) => agent.idleMs, top: { heading: 'IDLE', from: 140, letter: 'I' } },
  {
    id: 'way',
    unit: 'text',
    value: ({ agent }) => pathOf(agent)?.charCodeAt(0),
    text: pathOf,
    top: { heading: 'WAY', from: 220, screenOnly: true },
    page: { heading: 'Way', from: 1700 },
  },
  {
    id: 'gpu',
    unit: 'text',
    value: ({ agent }) => (agent.gpus === undefined ? undefined : Number.parseInt(agent.gpus, 10)),
    text: ({ gpus }) => gpus,
    top: { heading: 'GPU', from: 200, screenOnly: true },
    page: { heading: 'GPU', from: 2100 },
  },
  {
    id: 'pid',
    unit: 'text',
    value: ({ agent }) => agent.pid,
    text: ({ pid }) => pid?.toString(),
    top: { heading: 'PID', from: 200, screenOnly: true },
    page: { heading: 'pid', from: 2100 },
  },
];
