/** Charts over time: lines, a legend that is also their text, and a cursor for mouse and arrow keys. */
import { bytes, count, duration, ifKnown, percent, perSecond } from '../../figures/formats.js';
import { byId, element, mark, setText, UNKNOWN } from './dom.js';
import type { Measure } from './history.js';
import uPlot from './uplot.js';

interface Line {
  readonly label: string;
  readonly measure: Measure;
  /** Name of a variable in page.css. */
  readonly colour: string;
  /** Distinguishes lines beside their colour. */
  readonly dash?: readonly number[];
}

interface ChartOptions {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** Least maximum of the axis. */
  readonly atLeast: number;
}

const HEIGHT_PX = 180;
const AXIS_PX = 76;
const TIME_AXIS_PX = 30;
const LEAST_SPAN_S = 60;

class TimeChart {
  readonly measures: readonly Measure[];
  readonly #options: ChartOptions;
  readonly #plot: uPlot;
  readonly #values: readonly HTMLElement[];
  readonly #time: HTMLElement;
  #columns: uPlot.AlignedData = [[]];
  /** Index under the cursor. Undefined: the legend shows the newest values. */
  #at: number | undefined;

  /** Fills the figure of this id. */
  constructor(id: string, options: ChartOptions) {
    const figure = byId(id);
    this.#options = options;
    this.measures = options.lines.map(({ measure }) => measure);
    this.#values = options.lines.map(() => element('span', { class: 'value' }, UNKNOWN));
    this.#time = element('span', { class: 'when' }, 'now');
    const entries = options.lines.map(({ label, colour, dash }, i) => {
      const swatch = mark(dash ? 'swatch dashed' : 'swatch', colour);
      return element('li', {}, swatch, `${label} `, this.#values[i]!);
    });
    const legend = element('ul', { class: 'legend' }, ...entries, element('li', {}, this.#time));
    const frame = element('div', {
      class: 'chart',
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'chart',
      'aria-label': `${options.title} over time. Left and right arrow keys move through it.`,
    });
    figure.append(element('figcaption', {}, element('h2', {}, options.title), legend), frame);
    this.#plot = new uPlot(this.#plotOptions(frame.clientWidth), [[]], frame);
    new ResizeObserver(() => this.#plot.setSize({ width: frame.clientWidth, height: HEIGHT_PX })).observe(frame);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#plot.redraw(false, true));
    frame.addEventListener('keydown', (event) => this.#onKey(event, legend));
    frame.addEventListener('blur', () => this.#hideCursor(legend));
  }

  show(columns: (number | null)[][]): void {
    this.#columns = columns as unknown as uPlot.AlignedData;
    this.#plot.setData(this.#columns, false);
    const [times] = this.#columns;
    const newest = times.at(-1) ?? Date.now() / 1000;
    this.#plot.setScale('x', { min: Math.min(times[0] ?? newest, newest - LEAST_SPAN_S), max: newest });
    this.#updateLegend();
  }

  #plotOptions(width: number): uPlot.Options {
    const { lines, atLeast } = this.#options;
    const grid = { stroke: () => colour('line'), width: 1 };
    const axis = { stroke: () => colour('soft'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
    return {
      width,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false },
      hooks: {
        setCursor: [
          ({ cursor }) => {
            this.#at = cursor.idx ?? undefined;
            this.#updateLegend();
          },
        ],
      },
      scales: { y: { range: (_, __, max) => [0, Math.max(atLeast, (max ?? 0) * 1.1)] } },
      axes: [
        { ...axis, values: '{HH}:{mm}:{ss}', space: 80, size: TIME_AXIS_PX },
        { ...axis, values: (_, splits) => splits.map((split) => this.#options.format(split)), size: AXIS_PX },
      ],
      series: [
        {},
        ...lines.map(({ colour: name, dash }) => ({
          stroke: () => colour(name),
          width: 2,
          points: { show: false },
          ...(dash === undefined ? {} : { dash: [...dash] }),
        })),
      ],
    };
  }

  #updateLegend(): void {
    const [times, ...values] = this.#columns;
    const at = this.#at === undefined || this.#at >= times.length ? times.length - 1 : this.#at;
    values.forEach((column, i) => {
      setText(this.#values[i]!, ifKnown(column[at], this.#options.format, UNKNOWN));
    });
    const isNewest = at === times.length - 1;
    setText(this.#time, isNewest ? 'now' : new Date(times[at]! * 1000).toLocaleTimeString());
  }

  #onKey(event: KeyboardEvent, legend: HTMLElement): void {
    const last = this.#columns[0].length - 1;
    const from = this.#at ?? last;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') return this.#hideCursor(legend);
    if (to === undefined || last < 0) return;
    event.preventDefault();
    legend.setAttribute('aria-live', 'polite');
    const at = Math.min(last, Math.max(0, to));
    const left = this.#plot.valToPos(this.#columns[0][at]!, 'x');
    this.#plot.setCursor({ left, top: HEIGHT_PX / 2 });
  }

  #hideCursor(legend: HTMLElement): void {
    legend.removeAttribute('aria-live');
    this.#plot.setCursor({ left: -10, top: -10 });
  }
}

/** Value of a variable in page.css. */
function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
}

/** Charts by the id of their figure. */
const PANELS: Readonly<Record<string, ChartOptions>> = {
  throughput: {
    title: 'Throughput',
    lines: [
      { label: 'tx', measure: 'tx', colour: 'tx' },
      { label: 'rx', measure: 'rx', colour: 'rx', dash: [8, 4] },
    ],
    format: perSecond(bytes),
    atLeast: 1000,
  },
  'transfer-time': {
    title: 'Transfer time',
    lines: [
      { label: 'p50', measure: 'p50', colour: 'low' },
      { label: 'p90', measure: 'p90', colour: 'middle', dash: [8, 4] },
      { label: 'p99', measure: 'p99', colour: 'high', dash: [2, 3] },
    ],
    format: duration,
    atLeast: 10,
  },
  requests: {
    title: 'Requests and errors',
    lines: [
      { label: 'requests', measure: 'requests', colour: 'tx' },
      { label: 'errors', measure: 'errors', colour: 'high', dash: [2, 3] },
    ],
    format: perSecond(count),
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
    format: perSecond(count),
    atLeast: 1,
  },
};

export function makeCharts(): TimeChart[] {
  return Object.entries(PANELS).map(([id, options]) => new TimeChart(id, options));
}
