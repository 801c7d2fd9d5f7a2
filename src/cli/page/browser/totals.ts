/** The numbers at the top: what happens now, and what came together so far. */
import { bytes, count, percent } from '../../figures/numbers.js';
import { quantile } from '../../figures/quantile.js';
import type { AgentData } from '../data.js';
import { byId, element, setNumber, setText } from './dom.js';
import { errorsOf, type History, type Sample } from './history.js';
import { percentileText } from './percentile-text.js';

interface Total {
  readonly label: string;
  readonly now: (sample: Sample | undefined) => string;
  readonly value: (agents: readonly AgentData[]) => number;
  readonly words: (value: number) => string;
  /** What the value is beside. */
  readonly note: string;
  readonly isBad?: (value: number) => boolean;
}

const told = (value: number | null | undefined, words: (value: number) => string): string =>
  value === null || value === undefined ? '–' : words(value);
const sum = (read: (agent: AgentData) => number) => (agents: readonly AgentData[]) =>
  agents.reduce((all, agent) => all + read(agent), 0);
const perSecond = (value: number): string => `${count(value)}/s`;

const TOTALS: readonly Total[] = [
  {
    label: 'Transmit',
    now: (sample) => told(sample?.tx, (value) => `${bytes(value)}/s`),
    value: sum(({ txBytes }) => txBytes),
    words: bytes,
    note: 'so far',
  },
  {
    label: 'Receive',
    now: (sample) => told(sample?.rx, (value) => `${bytes(value)}/s`),
    value: sum(({ rxBytes }) => rxBytes),
    words: bytes,
    note: 'so far',
  },
  {
    label: 'Requests',
    now: (sample) => told(sample?.requests, perSecond),
    value: sum(({ txRequests, rxRequests }) => txRequests + rxRequests),
    words: count,
    note: 'so far',
  },
  {
    label: 'Errors',
    now: (sample) => told(sample?.errors, perSecond),
    value: sum(errorsOf),
    words: count,
    note: 'so far',
    isBad: (value) => value > 0,
  },
  {
    label: 'Memory registered',
    now: (sample) => told(sample?.memory, bytes),
    value: sum(({ registered }) => registered),
    words: bytes,
    note: 'ever registered',
  },
  {
    label: 'Events dropped',
    now: (sample) => told(sample?.dropped, perSecond),
    value: sum(({ dropped }) => dropped),
    words: count,
    note: 'so far, by the agents',
    isBad: (value) => value > 0,
  },
  {
    label: 'Fullest ring',
    now: (sample) => told(sample?.fill, percent),
    value: sum(({ foundFull }) => foundFull),
    words: count,
    note: 'times found full',
    isBad: (value) => value > 0,
  },
];

export class TotalsView {
  readonly #tiles: { now: HTMLElement; number: HTMLDataElement; tile: HTMLElement; total: Total }[];
  readonly #latencyNow = element('dd', { class: 'now' });
  readonly #latencySoFar = element('dd', { class: 'soft' });

  constructor() {
    const list = byId('totals');
    this.#tiles = TOTALS.map((total) => {
      const now = element('dd', { class: 'now' });
      const number = element('data');
      const tile = element('div', {}, element('dt', {}, total.label), now);
      tile.append(element('dd', { class: 'soft' }, number, ` ${total.note}`));
      list.append(tile);
      return { now, number, tile, total };
    });
    const latency = element('div', {}, element('dt', {}, 'Transfer time p50 · p99'));
    latency.append(this.#latencyNow, this.#latencySoFar);
    list.insertBefore(latency, list.children[4] ?? null);
  }

  show(history: History, agent: number | undefined, agents: readonly AgentData[]): void {
    const sample = history.now(agent);
    for (const { now, number, tile, total } of this.#tiles) {
      const value = total.value(agents);
      setText(now, total.now(sample));
      setNumber(number, value, total.words(value));
      tile.classList.toggle('bad', total.isBad?.(value) ?? false);
    }
    const bounds = history.latest?.bounds.durationUs ?? [];
    const words = (us: number): string => percentileText(us, bounds);
    setText(this.#latencyNow, `${told(sample?.p50, words)} · ${told(sample?.p99, words)}`);
    const counts = history.buckets(agent, 'durations', false);
    const soFar = [0.5, 0.99].map((q) => told(quantile({ bounds, counts }, q)?.value, words));
    setText(this.#latencySoFar, `${soFar.join(' · ')} so far`);
  }
}
