/** Small tables of percentiles: of the last seconds, and of all so far. */
import { duration } from '../../figures/formats.js';
import { type Percentiles, percentilesOf } from '../../figures/percentiles.js';
import { element, setNumber, UNKNOWN } from './dom.js';
import { type History, PERCENTILE_SPAN_MS } from './history.js';

const COLUMNS = ['p50', 'p90', 'p99', 'max'] as const satisfies readonly (keyof Percentiles)[];
const SPANS: readonly (readonly [label: string, spanMs: number | undefined])[] = [
  [`last ${PERCENTILE_SPAN_MS / 1000} s`, PERCENTILE_SPAN_MS],
  ['so far', undefined],
];

/** Makes a table. Returns a function that shows the percentiles of one agent or of all. */
export function percentileTable(
  place: HTMLElement,
  caption: string,
  key: 'transferTimesUs' | 'postTimesUs',
): (history: History, agent: number | undefined) => void {
  const rows = SPANS.map(([label, spanMs]) => {
    const cells = COLUMNS.map(() => element('data', {}, UNKNOWN));
    const line = element(
      'tr',
      {},
      element('th', { scope: 'row' }, label),
      ...cells.map((cell) => element('td', {}, cell)),
    );
    return { spanMs, cells, line };
  });
  const headings = ['', ...COLUMNS].map((text) => element('th', { scope: 'col' }, text));
  place.append(
    element(
      'table',
      { class: 'percentiles' },
      element('caption', { class: 'unseen' }, caption),
      element('thead', {}, element('tr', {}, ...headings)),
      element('tbody', {}, ...rows.map(({ line }) => line)),
    ),
  );
  return (history, agent) => {
    for (const { spanMs, cells } of rows) {
      const counts = history.counts(agent, key, spanMs);
      const percentiles = counts && percentilesOf(counts);
      COLUMNS.forEach((column, i) => {
        const us = percentiles?.[column];
        setNumber(cells[i]!, us ?? 0, us === undefined ? UNKNOWN : duration(us));
      });
    }
  };
}
