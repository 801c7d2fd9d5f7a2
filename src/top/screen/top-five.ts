/** The five agents that move most, each with a graph of its own. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { cutMiddle } from '../../view/figures/cut-middle.js';
import { bytesRateText } from '../../ground/figures/figure.js';
import { fullNameOf } from '../selection.js';
import type { TopRow } from '../tracker.js';
import { niceTop, sparkline } from './graph.js';
import type { UiState } from './keys.js';
import { terminalColumns, EMPTY, filled, type Line, piece } from './line.js';
import { GRAPH_SPANS_MS, scaleText, spanOf } from './panels.js';
import type { Scene, Surroundings } from './scene.js';

const COUNT = 5;
const RANKED_OVER_MS = 60_000;
const MAX_NAME = 32;
const VALUE = 12;

/** A heading and five lines. Agents with the same rate are in the order of the table. */
export function topFiveLines(scene: Scene, state: UiState, { columns, unicode }: Surroundings): Line[] {
  const { view, agents } = scene;
  const endMs = view.takenMs;
  const partsOf = ({ agent: { id } }: TopRow, spanMs: number, count: number): Float64Array =>
    agents.get(id)?.parts(['tx', 'rx'], endMs, spanMs, count) ?? new Float64Array(count);
  const ranked = scene.rows
    .map((row) => ({ row, rate: partsOf(row, RANKED_OVER_MS, 1)[0]! }))
    .filter(({ rate }) => rate > 0)
    .sort((a, b) => b.rate - a.rate)
    .slice(0, COUNT);
  const names = ranked.map(({ row }) => oneLine(fullNameOf(row)));
  const nameWidth = Math.min(MAX_NAME, Math.floor(columns / 3), Math.max(0, ...names.map(terminalColumns)));
  const graphWidth = Math.max(0, columns - nameWidth - VALUE - 3);
  const spanMs = spanOf(GRAPH_SPANS_MS.panel, state);
  const graphs = ranked.map(({ row }) => partsOf(row, spanMs, graphWidth));
  const top = niceTop(Math.max(0, ...graphs.flatMap((values) => [...values.filter((value) => value > 0)])));
  const heading = ` Top five by TX+RX of the last minute, ${scaleText(top, spanMs)}`;
  const lines = ranked.map(({ row: { txBytesPerSecond: tx, rxBytesPerSecond: rx } }, i): Line => {
    const now = tx === undefined || rx === undefined ? undefined : tx + rx;
    return [
      ...filled([piece(` ${cutMiddle(names[i]!, nameWidth)}`)], nameWidth + 2),
      piece(bytesRateText(now).padStart(VALUE - 1), 'bold'),
      piece(` ${sparkline(graphs[i]!, top, unicode)}`, 'tx'),
    ];
  });
  return [[piece(heading, 'dim')], ...Array.from({ length: COUNT }, (_, i) => lines[i] ?? EMPTY)];
}
