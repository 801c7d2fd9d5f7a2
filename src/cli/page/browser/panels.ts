/** What is drawn over time, chart by chart. */
import { bytes, count, percent } from '../../figures/numbers.js';
import { percentileText } from './percentile-text.js';
import { type ChartOptions, TimeChart } from './time-chart.js';

const PANELS: Readonly<Record<string, ChartOptions>> = {
  throughput: {
    title: 'Throughput',
    lines: [
      { label: 'tx', measure: 'tx', colour: 'tx' },
      { label: 'rx', measure: 'rx', colour: 'rx', dash: [8, 4] },
    ],
    format: (value) => `${bytes(value)}/s`,
    atLeast: 1000,
  },
  'transfer-time': {
    title: 'Transfer time',
    lines: [
      { label: 'p50', measure: 'p50', colour: 'low' },
      { label: 'p90', measure: 'p90', colour: 'middle', dash: [8, 4] },
      { label: 'p99', measure: 'p99', colour: 'high', dash: [2, 3] },
    ],
    format: (us, { bounds }) => percentileText(us, bounds.durationUs),
    atLeast: 10,
  },
  requests: {
    title: 'Requests and errors',
    lines: [
      { label: 'requests', measure: 'requests', colour: 'tx' },
      { label: 'errors', measure: 'errors', colour: 'high', dash: [2, 3] },
    ],
    format: (value) => `${count(value)}/s`,
    atLeast: 1,
  },
  memory: {
    title: 'Memory registered',
    lines: [{ label: 'in use', measure: 'memory', colour: 'tx' }],
    format: bytes,
    atLeast: 1000,
  },
  fill: {
    title: 'Ring fill',
    lines: [{ label: 'highest of the last 15 to 30 s', measure: 'fill', colour: 'middle' }],
    format: percent,
    atLeast: 1,
  },
  loss: {
    title: 'Loss',
    lines: [
      { label: 'dropped by agents', measure: 'dropped', colour: 'high' },
      { label: 'rings found full', measure: 'full', colour: 'middle', dash: [8, 4] },
    ],
    format: (value) => `${count(value)}/s`,
    atLeast: 1,
  },
};

export function makeCharts(): TimeChart[] {
  return Object.entries(PANELS).map(([id, options]) => new TimeChart(id, options));
}
