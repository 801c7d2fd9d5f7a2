/** Tiles at the top of the page: current rates, and totals. */
import type { AgentData } from '../../api/answer.js';
import { bytes, count, duration, ifKnown, percent, perSecond } from '../../figures/formats.js';
import { percentilesOf } from '../../figures/percentiles.js';
import { byId, element, setNumber, setText, UNKNOWN } from './dom.js';
import { errorsOf, type History, type Measure, requestsOf } from './history.js';

interface Tile {
  readonly label: string;
  readonly measure: Measure;
  /** Format of the measure. */
  readonly now: (value: number) => string;
  readonly total: (agent: AgentData) => number;
  /** Format of the total. */
  readonly all: (value: number) => string;
  readonly note: string;
  /** Marks any total above 0 as bad. */
  readonly isLoss?: boolean;
}

const byteRate = { now: perSecond(bytes), all: bytes, note: 'so far' };
const rate = { now: perSecond(count), all: count, note: 'so far' };

const TILES: readonly Tile[] = [
  { ...byteRate, label: 'Transmit', measure: 'tx', total: ({ txBytes }) => txBytes },
  { ...byteRate, label: 'Receive', measure: 'rx', total: ({ rxBytes }) => rxBytes },
  { ...rate, label: 'Requests', measure: 'requests', total: requestsOf },
  { ...rate, label: 'Errors', measure: 'errors', total: errorsOf, isLoss: true },
  {
    label: 'Memory registered',
    measure: 'memory',
    now: bytes,
    total: ({ registeredBytes }) => registeredBytes,
    all: bytes,
    note: 'ever registered',
  },
  {
    ...rate,
    label: 'Events dropped',
    measure: 'dropped',
    total: ({ dropped }) => dropped,
    note: 'so far, by the agents',
    isLoss: true,
  },
  {
    label: 'Fullest ring',
    measure: 'fill',
    now: percent,
    total: ({ foundFull }) => foundFull,
    all: count,
    note: 'times found full',
    isLoss: true,
  },
];
/** Place of the percentiles among the tiles. */
const LATENCY_PLACE = 4;

/** Fills the place of the tiles. Returns a function that shows the numbers of one agent or of all. */
export function makeTotals(): (history: History, agent: number | undefined, agents: readonly AgentData[]) => void {
  const list = byId('totals');
  const [latencyNow, latencyTotal] = [element('dd', { class: 'now' }), element('dd', { class: 'soft' })];
  const tiles = TILES.map((tile) => {
    const now = element('dd', { class: 'now' });
    const number = element('data');
    const total = element('dd', { class: 'soft' }, number, ` ${tile.note}`);
    const group = element('div', {}, element('dt', {}, tile.label), now, total);
    list.append(group);
    return { ...tile, nowText: now, number, group };
  });
  const latency = element('div', {}, element('dt', {}, 'Transfer time p50 · p99 · max'), latencyNow, latencyTotal);
  list.insertBefore(latency, list.children[LATENCY_PLACE] ?? null);
  return (history, agent, agents) => {
    const measures = history.now(agent);
    for (const { measure, now, total, all, isLoss, nowText, number, group } of tiles) {
      const sum = agents.reduce((sum, one) => sum + total(one), 0);
      setText(nowText, ifKnown(measures?.[measure], now, UNKNOWN));
      setNumber(number, sum, all(sum));
      group.classList.toggle('bad', isLoss === true && sum > 0);
    }
    const times = history.counts(agent, 'transferTimesUs');
    setText(latencyNow, latencyText(measures));
    setText(latencyTotal, `${latencyText(times && percentilesOf(times))} so far`);
  };
}

function latencyText(times: Partial<Record<'p50' | 'p99' | 'max', number | null>> = {}): string {
  return [times.p50, times.p99, times.max].map((us) => ifKnown(us, duration, UNKNOWN)).join(' · ');
}
