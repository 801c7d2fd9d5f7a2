/** Drawings of time by size, as the live page has them. Pure. */
import { coordinate } from '../../ground/figures/figure.js';
import { shadesOf, STRIP_BINS, type TimeRange } from '../../view/sizes/class-strip.js';
import { PLOT, timePlotOf } from '../../view/sizes/time-plot.js';
import { timeModelText } from '../../view/sizes/size-words.js';
import type { ReportedClass, ReportedDirection } from '../run-report.js';
import { escapedText, type Markup, tag } from './markup.js';

const BIN_PX = 3;

/** The distribution of a class. Its numbers stand beside it. */
export function strip({ timesUs }: ReportedClass, range: TimeRange): Markup {
  const width = STRIP_BINS * BIN_PX;
  const bins = shadesOf(timesUs, range).map((shade, i) =>
    tag('rect', { class: `heat${shade ?? '-none'}`, x: i * BIN_PX, y: 2, width: BIN_PX - 0.5, height: 12 }),
  );
  return tag('svg', { viewBox: `0 0 ${width} 16`, width, height: 16, 'aria-hidden': 'true' }, bins);
}

/** Median and p99 of each class, and the line through them. */
export function timePlot({ classes, model }: ReportedDirection, range: TimeRange): Markup {
  const { points, timeTicks, sizeTicks, line } = timePlotOf(classes, range, model, undefined);
  const text = (x: number, y: number, anchor: string, content: string): Markup =>
    tag('text', { x: coordinate(x), y: coordinate(y), 'text-anchor': anchor }, escapedText(content));
  return tag(
    'svg',
    {
      class: 'plot',
      viewBox: `0 0 ${PLOT.width} ${PLOT.height}`,
      role: 'img',
      'aria-label': `Time against size: ${timeModelText(model)}`,
    },
    timeTicks.map(({ y, text: content }) => [
      tag('path', { class: 'grid', d: `M${PLOT.left} ${coordinate(y)}H${PLOT.width - PLOT.right}` }),
      text(PLOT.left - 6, y + 4, 'end', content),
    ]),
    sizeTicks.map(({ x, text: content }) => text(x, PLOT.height - 6, 'middle', content)),
    tag('path', { class: 'line', d: line }),
    points.map(({ x, y, topY, r }) => [
      tag('path', { class: 'to-p99', d: `M${coordinate(x)} ${coordinate(y)}V${coordinate(topY)}m-4 0h8` }),
      tag('circle', { cx: coordinate(x), cy: coordinate(y), r: coordinate(r) }),
    ]),
  );
}
