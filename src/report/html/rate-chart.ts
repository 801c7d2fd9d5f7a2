/** Bytes per second over the time of a run, of all agents together. Pure. */
import { boundText, bytesRateFigure, bytesRateText, coordinate, timeFigure } from '../../ground/figures/figure.js';
import type { DirectionName, RunReport } from '../run-report.js';
import { escapedText, type Markup, tag } from './markup.js';

const CHART = { width: 760, height: 190, left: 76, right: 14, top: 10, bottom: 26 } as const;
const PLOT_WIDTH = CHART.width - CHART.left - CHART.right;
const PLOT_HEIGHT = CHART.height - CHART.top - CHART.bottom;
const TIME_TICKS = 5;
const DIRECTIONS: readonly DirectionName[] = ['tx', 'rx'];
/** Distances of ticks, as multiples of a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10];

/** Returns undefined if the run was not watched, or moved nothing. */
export function rateChart({ agents, line }: RunReport): Markup | undefined {
  if (line === undefined || line.steps === 0) return undefined;
  const rates = DIRECTIONS.map((direction) => {
    const bytes = Array.from({ length: line.steps }, (_, i) =>
      agents.reduce((sum, agent) => sum + (agent.line?.[`${direction}Bytes`][i] ?? 0), 0),
    );
    return { direction, rates: bytes.map((moved) => (moved * 1000) / line.stepMs) };
  });
  const most = Math.max(...rates.flatMap((one) => one.rates));
  if (most === 0) return undefined;
  const ticks = ticksTo(most);
  const top = ticks.at(-1)!;
  const x = (step: number): string => coordinate(CHART.left + (step / line.steps) * PLOT_WIDTH);
  const y = (rate: number): string => coordinate(CHART.top + (1 - rate / top) * PLOT_HEIGHT);
  const moving = rates.filter((one) => one.rates.some((rate) => rate > 0));
  const drawn = moving.map(({ direction, rates: values }) => {
    // Each step has its own level: a peak of one step stays as wide as the step.
    const steps = values.map((rate, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(rate)}H${x(i + 1)}`).join('');
    return [
      tag('path', { class: `area ${direction}`, d: `${steps}V${y(0)}H${x(0)}Z` }),
      tag('path', { class: `stroke ${direction}`, d: steps }),
    ];
  });
  const seconds = (line.steps * line.stepMs) / 1000;
  const said = moving.map(({ direction, rates: values }) => `${direction} up to ${bytesRateText(Math.max(...values))}`);
  return tag(
    'figure',
    {},
    tag(
      'svg',
      {
        class: 'rates',
        viewBox: `0 0 ${CHART.width} ${CHART.height}`,
        role: 'img',
        'aria-label': `Moved over time: ${said.join(', ')}`,
      },
      ticks.map((rate) => [
        tag('path', { class: 'grid', d: `M${CHART.left} ${y(rate)}H${CHART.width - CHART.right}` }),
        tag(
          'text',
          { x: CHART.left - 8, y: coordinate(Number(y(rate)) + 4), 'text-anchor': 'end' },
          escapedText(boundText(bytesRateFigure(rate))),
        ),
      ]),
      Array.from({ length: TIME_TICKS }, (_, i) => {
        const at = i / (TIME_TICKS - 1);
        const anchor = i === 0 ? 'start' : i === TIME_TICKS - 1 ? 'end' : 'middle';
        const place = { x: x(at * line.steps), y: CHART.height - 6, 'text-anchor': anchor };
        return tag('text', place, escapedText(boundText(timeFigure(at * seconds * 1e6))));
      }),
      drawn,
    ),
    tag(
      'figcaption',
      {},
      said.map((text, i) => tag('span', { class: `key ${moving[i]!.direction}` }, escapedText(text))),
    ),
  );
}

/** Two to five ticks from 0 on. */
function ticksTo(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = power * STEPS.find((one) => one * power * 4 >= most)!;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}
