/** Time by size of one agent: its classes with their distributions, and a plot with its line and that of its peers. */
import {
  bytesRateFigure,
  coordinate,
  numberFigure,
  percent,
  timeFigure,
  timeText,
} from '../../../ground/figures/figure.js';
import type { AgentSizes, JsonClass, RecentClass } from '../../../view/sizes/direction-sizes.js';
import {
  boundIn,
  fewText,
  isAlike,
  multipleText,
  sizeClassText,
  timeLineText,
  timeModelText,
} from '../../../view/sizes/size-words.js';
import { byId, element, figurePlace, setAttribute, setFigure, setRows, setText, svg } from '../common/dom.js';
import { Segment } from '../common/segment.js';
import { decadesOf, placeIn, shadesOf, STRIP_BINS, type TimeRange } from '../../../view/sizes/class-strip.js';
import { PLOT, type TimePlot, timePlotOf } from '../../../view/sizes/time-plot.js';
import { movedDirections } from '../sizes/size-table.js';
import type { SizeDirection, ViewState } from '../view.js';

const BIN_PX = 3;
const SPANS = { recent: 'last minute', classes: 'since start' } as const;

export class SizeSection {
  readonly #place = byId('panel-sizes');
  readonly #directions: Segment<SizeDirection>;
  readonly #spans: Segment<keyof typeof SPANS>;
  readonly #rows = byId('panel-size-rows');
  #span: keyof typeof SPANS = 'recent';
  #shown: Parameters<SizeSection['show']> | undefined;

  constructor(onView: (change: Partial<ViewState>) => void) {
    this.#directions = new Segment('Direction', { tx: 'tx', rx: 'rx' }, (direction) => onView({ direction }));
    this.#spans = new Segment('Time', SPANS, (span) => {
      this.#span = span;
      if (this.#shown !== undefined) this.show(...this.#shown);
    });
    byId('panel-sizes-head').append(this.#directions.node, this.#spans.node);
  }

  /** `agent`: with its distributions; undefined before they arrive. */
  show(agent: AgentSizes | undefined, wanted: SizeDirection | undefined): void {
    this.#shown = [agent, wanted];
    const directions = agent === undefined ? [] : movedDirections([agent]);
    const direction = directions.find((one) => one === wanted) ?? directions[0];
    this.#place.hidden = direction === undefined;
    if (agent === undefined || direction === undefined) return;
    this.#directions.show(direction, directions.length > 1);
    this.#spans.show(this.#span);
    const { [this.#span]: classes, model, portShare, peersModel } = agent[direction];
    byId('panel-sizes-shown').hidden = classes.length === 0;
    const peersText = peersModel?.kind === 'line' ? `; peers: ${timeLineText(peersModel)}` : '';
    const text = `${timeModelText(model, portShare)}${peersText}`;
    setText(byId('panel-sizes-line'), classes.length === 0 ? `No ${direction} transfers in the last minute.` : text);
    if (classes.length === 0) return;
    const range = decadesOf(classes.flatMap(({ p50Us, maxUs }) => [p50Us, maxUs]));
    setText(byId('panel-sizes-range'), `${timeText(range.from)} to ${timeText(range.to)}`);
    const bytes = classes.reduce((sum, one) => sum + one.bytes, 0);
    setRows(this.#rows, classes, classRow, (row, one) => showRow(row, one, bytes, range));
    const plot = byId('panel-sizes-plot');
    setAttribute(plot, 'aria-label', `Time against size: ${text}`);
    plot.replaceChildren(...drawn(timePlotOf(classes, range, model, peersModel)));
  }
}

function classRow(): HTMLElement {
  const bins = Array.from({ length: STRIP_BINS }, (_, i) =>
    svg('rect', { x: String(i * BIN_PX), y: '2', width: String(BIN_PX - 0.5), height: '12' }),
  );
  const width = STRIP_BINS * BIN_PX;
  const strip = svg(
    'svg',
    { viewBox: `0 0 ${width} 16`, width: String(width), height: '16', 'aria-hidden': 'true' },
    ...bins,
    svg('path', { class: 'peers' }),
  );
  const cells = Array.from({ length: 5 }, () => element('td', {}, figurePlace()));
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }),
    ...cells,
    element('td', { class: 'strip' }, strip),
    element('td', {}),
  );
}

function showRow(row: HTMLElement, one: JsonClass & Partial<RecentClass>, allBytes: number, range: TimeRange): void {
  const [name, ...cells] = row.children;
  setText(name!, sizeClassText(boundIn(one)));
  const share = { value: percent(one.bytes / allBytes), unit: '' };
  const figures = [numberFigure(one.transfers), share, timeFigure(one.p50Us), timeFigure(one.p99Us)];
  [...figures, bytesRateFigure(one.bytesPerSecond)].forEach((figure, i) =>
    setFigure(cells[i]!.firstElementChild!, figure),
  );
  row.classList.toggle('few', one.few);
  setAttribute(row, 'title', one.few ? fewText(one) : '');
  const { againstPeers } = one;
  const strip = cells[5]!.firstElementChild!;
  const shades = one.timesUs === undefined ? [] : shadesOf(one.timesUs, range);
  for (let i = 0; i < STRIP_BINS; i++) setAttribute(strip.children[i]!, 'class', `heat${shades[i] ?? '-none'}`);
  const at = againstPeers === undefined ? undefined : placeIn(range, one.p50Us / againstPeers) * STRIP_BINS * BIN_PX;
  setAttribute(strip.lastElementChild!, 'd', at === undefined ? '' : `M${coordinate(at)} 0v16`);
  const isSlow = againstPeers !== undefined && againstPeers > 1 && !isAlike(againstPeers);
  setAttribute(cells[6]!, 'class', isSlow ? 'warn' : 'soft');
  setText(cells[6]!, againstPeers === undefined ? '' : `${isSlow ? '▲ ' : ''}${multipleText(againstPeers)}`);
}

function drawn({ points, timeTicks, sizeTicks, line, peers }: TimePlot): SVGElement[] {
  const text = (x: number, y: number, anchor: string, content: string): SVGElement => {
    const made = svg('text', { x: coordinate(x), y: coordinate(y), 'text-anchor': anchor });
    made.textContent = content;
    return made;
  };
  return [
    ...timeTicks.flatMap(({ y, text: content }) => [
      svg('path', { class: 'grid', d: `M${PLOT.left} ${coordinate(y)}H${PLOT.width - PLOT.right}` }),
      text(PLOT.left - 6, y + 4, 'end', content),
    ]),
    ...sizeTicks.map(({ x, text: content }) => text(x, PLOT.height - 6, 'middle', content)),
    svg('path', { class: 'peers', d: peers }),
    svg('path', { class: 'line', d: line }),
    ...points.flatMap(({ x, y, topY, r }) => [
      svg('path', { class: 'to-p99', d: `M${coordinate(x)} ${coordinate(y)}V${coordinate(topY)}m-4 0h8` }),
      svg('circle', { cx: coordinate(x), cy: coordinate(y), r: coordinate(r) }),
    ]),
  ];
}
