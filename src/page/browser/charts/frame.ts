/** The frame of all charts: title, legend of one line, axes, a cursor in all of them, and the span chosen by dragging. */
import { clockOfAxis, timeTicks } from './time-axis.js';
import { timeOfDay } from '../../../ground/figures/clock.js';
import { element, icon, mark, setRows, setText, watchSight } from '../common/dom.js';
import uPlot from './uplot.js';
import { colour, faded } from './colours.js';
import { fontOf, type Layer } from './layers.js';
import type { ChartLine, ChartPicture } from './picture.js';
import type { TimeCursor } from './time-cursor.js';

export interface FrameOptions {
  readonly title: string;
  /** Most lines that a picture has. */
  readonly lines: number;
  readonly isLog?: boolean;
  /** Element of the heading, for the order of headings around the chart. */
  readonly heading?: 'h2' | 'h3';
}

/** Pixels at the standard size of text. */
const GUTTER = { left: 46, right: 42, top: 8, bottom: 22 };
const END_LABEL_DISTANCE_PX = 13;
const MINUTE_LABEL_PX = 54;
const SECOND_LABEL_PX = 74;
const FIRST_LABEL_PX = 16;
/** Letters of a name that is never cut in a legend. */
const SHORT_NAME = 8;
const DRAG_PX = 5;
const LINEAR = uPlot.paths.linear!();

export class ChartFrame {
  readonly #title: HTMLElement;
  readonly #unit = element('span', { class: 'axis-unit' });
  readonly #shades: HTMLElement;
  readonly #legend = element('ul', { class: 'legend' });
  readonly #sum = element('span', { class: 'sum' });
  readonly #place = element('div', { class: 'plot' });
  readonly #quiet = element('p', { class: 'quiet' });
  readonly #time = element('span', { class: 'cursor-time', 'aria-hidden': 'true' });
  readonly #options: FrameOptions;
  readonly #cursor: TimeCursor;
  #plot: uPlot | undefined;
  #rem = 0;
  /** A plot that is out of view is not drawn. */
  #isSeen = false;
  #isWaiting = false;
  #picture: ChartPicture | undefined;
  /** Place of the pointer in the plot. */
  #pointerPx: number | undefined;

  constructor(figure: HTMLElement, options: FrameOptions, cursor: TimeCursor) {
    this.#options = options;
    this.#cursor = cursor;
    figure.classList.add('chart');
    this.#title = element(
      'div',
      { class: 'title' },
      element(options.heading ?? 'h2', {}, options.title),
      this.#unit,
      this.#sum,
    );
    const shades = element('span', { class: 'shades' }, 'few', element('i', { class: 'ramp' }), 'many');
    this.#shades = shades;
    figure.append(this.#title, element('div', { class: 'legend-line' }, shades, this.#legend), this.#place);
    this.#place.append(this.#quiet, this.#time);
    this.#quiet.hidden = this.#time.hidden = true;
    new ResizeObserver(() => this.#fit()).observe(this.#place);
    watchSight(this.#place, (isSeen) => this.#onSight(isSeen));
    cursor.onChange(() => this.#followCursor());
  }

  /** Adds an element at the right end of the title. */
  addToTitle(extra: HTMLElement): void {
    this.#title.append(extra);
  }

  show(picture: ChartPicture): void {
    this.#picture = picture;
    setText(this.#unit, picture.unit ?? picture.scale.unit ?? '');
    this.#showQuiet();
    this.#showLegend();
    if (this.#plot === undefined) this.#fit();
    this.#draw();
  }

  /** Draws again, with the colours of the theme. */
  redraw(): void {
    this.#plot?.redraw(false, true);
  }

  #onSight(isSeen: boolean): void {
    this.#isSeen = isSeen;
    if (this.#picture !== undefined) this.#draw();
  }

  /** Draws soon. Each plot has its own task, so that keys and clicks need not wait for all of them. */
  #draw(): void {
    if (this.#isWaiting || !this.#isSeen) return;
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      this.#drawNow();
    });
  }

  #drawNow(): void {
    const { times, lines } = this.#picture!;
    if (this.#plot === undefined || !this.#isSeen) return;
    const unused = Array.from({ length: this.#options.lines - lines.length }, () => times.map(() => null));
    const columns = [times, ...lines.map(({ values }) => values), ...unused];
    this.#plot.setData(columns as unknown as uPlot.AlignedData, true);
    // The plot moved below a pointer that stands still.
    if (this.#pointerPx !== undefined) this.#pointCursor();
    else this.#followCursor();
  }

  /** Adapts the plot to its place. Text of another size needs other gutters, hence another plot. */
  #fit(): void {
    const { clientWidth: width, clientHeight: height } = this.#place;
    if (width === 0 || this.#picture === undefined) return;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    if (this.#plot !== undefined && rem === this.#rem) {
      if (this.#plot.width !== width || this.#plot.height !== height) this.#plot.setSize({ width, height });
      return;
    }
    this.#plot?.destroy();
    this.#rem = rem;
    this.#plot = new uPlot(this.#plotOptions(width, height), [[]], this.#place);
    this.#plot.root.setAttribute('aria-hidden', 'true');
    this.#draw();
  }

  #line(i: number): ChartLine | undefined {
    return this.#picture?.lines[i];
  }

  #plotOptions(width: number, height: number): uPlot.Options {
    const rem = this.#rem;
    const font = `${Math.round(12 * rem)}px Inter, system-ui, sans-serif`;
    const isTime = this.#picture!.columns === undefined;
    const axis = { font, stroke: () => colour('soft'), gap: 5 * rem, ticks: { show: false } };
    return {
      width,
      height,
      padding: [GUTTER.top * rem, GUTTER.right * rem, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { size: 6 * rem, show: isTime },
        drag: { x: isTime, y: false, setScale: false, dist: DRAG_PX },
        bind: { dblclick: () => () => (this.#cursor.zoomOut(), null) },
      },
      scales: {
        x: { time: false, range: () => [this.#picture!.from, this.#picture!.to] },
        y: {
          distr: this.#options.isLog === true ? 3 : 1,
          range: () => [this.#picture!.scale.min, this.#picture!.scale.max],
        },
      },
      axes: [
        {
          ...axis,
          size: GUTTER.bottom * rem,
          border: { show: true, stroke: () => colour('line2'), width: 1 },
          grid: { show: false },
          splits: (plot) => this.#ticksOfTime(plot),
          values: (plot, splits) => this.#textsOfTime(plot, splits),
        },
        {
          ...axis,
          size: GUTTER.left * rem,
          grid: { stroke: () => colour('grid'), width: 1 },
          splits: () => this.#picture!.scale.ticks.map(({ at }) => at),
          values: () => this.#picture!.scale.ticks.map(({ text }) => text),
          filter: (_, splits) => splits,
        },
      ],
      bands: this.#bands(),
      series: [{}, ...Array.from({ length: this.#options.lines }, (_, i) => this.#series(i))],
      hooks: {
        drawAxes: [(plot) => this.#drawLayers(plot, this.#picture!.layers)],
        draw: [(plot) => this.#drawLayers(plot, this.#picture!.notes), (plot) => this.#drawEnds(plot)],
        ready: [(plot) => this.#followPointer(plot)],
        setSelect: [(plot) => this.#onSelect(plot)],
      },
    };
  }

  #series(i: number): uPlot.Series {
    return {
      stroke: () => colour(this.#line(i)?.colour ?? 'line'),
      fill: () => (this.#line(i)?.isFilled === true ? faded(this.#line(i)!.colour, 0.14) : 'transparent'),
      width: this.#line(i)?.widthPx ?? 1.5,
      paths: (...place) => (this.#line(i)?.isLegendOnly === true ? null : LINEAR(...place)),
      points: { show: false },
    };
  }

  #bands(): uPlot.Band[] {
    const places = this.#picture!.lines.flatMap(({ isBand }, i) => (isBand === true ? [i] : []));
    return places.map((i) => ({ series: [i + 1, i], fill: () => faded(this.#line(i)!.colour, 0.14) }));
  }

  #ticksOfTime(plot: uPlot): number[] {
    const { from, to, columns } = this.#picture!;
    if (columns !== undefined) return columns.map(({ at }) => at);
    const most = (least: number): number => Math.max(1, plot.bbox.width / uPlot.pxRatio / (least * this.#rem));
    const minutes = timeTicks(from, to, most(MINUTE_LABEL_PX));
    const ticks = minutes.some((at) => at % 60 !== 0) ? timeTicks(from, to, most(SECOND_LABEL_PX)) : minutes;
    // At the left end a text would meet the lowest one of the other axis.
    return ticks.filter((at) => plot.valToPos(at, 'x') >= FIRST_LABEL_PX * this.#rem);
  }

  #textsOfTime(_: uPlot, splits: number[]): string[] {
    return this.#picture!.columns?.map(({ text }) => text) ?? clockOfAxis(splits);
  }

  #drawLayers(plot: uPlot, layers: readonly Layer[] = []): void {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const layer of layers) layer(plot, uPlot.pxRatio);
    ctx.restore();
  }

  /** Writes at the ends of the lines, from the highest to the lowest, so that no text covers another. */
  #drawEnds(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const px = uPlot.pxRatio;
    const ends = this.#picture!.lines.flatMap((line) => {
      const value = line.values.findLast((one) => one !== null);
      if (line.end === undefined || value === undefined || value === null) return [];
      return [{ line, text: line.end, at: plot.valToPos(value, 'y', true) }];
    });
    ends.sort((a, b) => a.at - b.at);
    const distance = END_LABEL_DISTANCE_PX * this.#rem * px;
    const lowest = bbox.top + bbox.height;
    ctx.save();
    ctx.font = `600 ${fontOf(plot.axes)}`;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    let least = bbox.top;
    ends.forEach(({ line, text, at }, i) => {
      const most = lowest - (ends.length - 1 - i) * distance;
      const place = Math.min(most, Math.max(least, at));
      ctx.fillStyle = colour(line.labelColour ?? line.colour);
      ctx.fillText(text, bbox.left + bbox.width + 6 * this.#rem * px, place);
      least = place + distance;
    });
    ctx.restore();
  }

  #followPointer({ over }: uPlot): void {
    if (this.#picture!.columns !== undefined) return;
    const point = (left: number | undefined): void => {
      this.#pointerPx = left;
      this.#pointCursor();
    };
    over.addEventListener('pointermove', ({ offsetX }) => point(offsetX));
    over.addEventListener('pointerleave', () => point(undefined));
  }

  #pointCursor(): void {
    this.#cursor.point(this.#pointerPx === undefined ? undefined : this.#plot!.posToVal(this.#pointerPx, 'x'));
  }

  #onSelect(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width === 0) return;
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.#cursor.zoom(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
  }

  /** Shows the shared cursor and the shared selection. */
  #followCursor(): void {
    const plot = this.#plot;
    if (plot === undefined || this.#picture === undefined || this.#picture.columns !== undefined) return;
    if (!this.#isSeen) return this.#showLegend();
    const { at, selection } = this.#cursor;
    const left = at === undefined ? -10 : plot.valToPos(at, 'x');
    if (plot.cursor.left !== left) plot.setCursor({ left, top: at === undefined ? -10 : 1 }, false);
    this.#time.hidden = at === undefined;
    this.#place.parentElement!.classList.toggle('has-cursor', at !== undefined);
    if (at !== undefined) {
      setText(this.#time, timeOfDay(at * 1000));
      this.#time.style.left = `${plot.bbox.left / uPlot.pxRatio + left}px`;
      this.#time.style.top = `${(plot.bbox.top + plot.bbox.height) / uPlot.pxRatio + 4}px`;
    }
    if (selection !== undefined) {
      const [from, to] = selection.map((time) => plot.valToPos(time, 'x')) as [number, number];
      plot.setSelect({ left: from, width: to - from, top: 0, height: plot.bbox.height / uPlot.pxRatio }, false);
    } else if (plot.select.width > 0 && at === undefined) {
      plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    }
    this.#showLegend();
  }

  /** Returns the place of the point at the cursor, or of the newest one. */
  #index(): number {
    const { times, columns } = this.#picture!;
    const { at } = this.#cursor;
    if (at === undefined || columns !== undefined) return times.length - 1;
    let nearest = times.length - 1;
    for (let i = 0; i < times.length; i++) {
      if (Math.abs(times[i]! - at) < Math.abs(times[nearest]! - at)) nearest = i;
    }
    return nearest;
  }

  #showLegend(): void {
    const { lines, note, hasShades } = this.#picture!;
    this.#shades.hidden = hasShades !== true;
    if (note !== undefined) {
      setText(this.#sum, '');
      if (this.#legend.textContent !== note) this.#legend.replaceChildren(element('li', { class: 'name' }, note));
      return;
    }
    if (this.#legend.firstElementChild?.childElementCount === 0) this.#legend.replaceChildren();
    const at = this.#index();
    const isLive = this.#cursor.at === undefined;
    const make = (): HTMLElement => element('li', {}, mark('swatch', 'tx'), element('bdi'), element('b'));
    setRows(this.#legend, lines, make, (entry, line) => {
      const [swatch, label, value] = entry.children as unknown as HTMLElement[];
      entry.classList.toggle('name', line.isName === true);
      entry.classList.toggle('short', line.label.length <= SHORT_NAME);
      swatch!.style.color = `var(--${line.colour})`;
      swatch!.classList.toggle('square', line.isLegendOnly === true);
      setText(label!, line.label);
      setText(value!, line.text((isLive ? line.now : undefined) ?? line.values[at] ?? null));
    });
    setText(this.#sum, this.#picture!.sum?.(isLive ? undefined : at) ?? '');
  }

  #showQuiet(): void {
    const { quiet } = this.#picture!;
    this.#quiet.hidden = quiet === undefined;
    if (quiet === undefined) return;
    this.#quiet.classList.toggle('lower', quiet.isLower === true);
    this.#quiet.dataset['tone'] = quiet.isGood ? 'ok' : 'idle';
    if (this.#quiet.textContent === quiet.text && this.#quiet.childElementCount === Number(quiet.isGood)) return;
    this.#quiet.replaceChildren(...(quiet.isGood ? [icon('tick')] : []), quiet.text);
  }
}
