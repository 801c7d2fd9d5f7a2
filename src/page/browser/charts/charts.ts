/** The eight charts of the page. */
import type { HistoryAnswer } from '../../../view/answers/history-answer.js';
import type { Percentiles } from '../../../view/figures/percentiles.js';
import { byId, element } from '../common/dom.js';
import { ChartFrame, type FrameOptions } from './frame.js';
import type { ChartPicture } from './picture.js';
import { memory, requests, throughput, TOP_AGENTS, topThroughput } from './rates.js';
import { SteadyTop } from './scales.js';
import { sizes } from './sizes.js';
import type { TimeCursor } from './time-cursor.js';
import { timesPicture, transferTime } from './times.js';
import { errors, fillAndLoss } from './troubles.js';
import type { Window } from './window.js';

/** Values and words of the charts. */
export interface ChartsInput {
  readonly history: HistoryAnswer;
  readonly window: Window;
  readonly showsTop: boolean;
  readonly nameOf: (id: number) => string;
  /** The part of the shown span that the history covers: `5 min`. */
  readonly span: string;
  /** Transfer times of now; undefined in a time that is over. */
  readonly recent: Percentiles | undefined;
  /** All errors so far, in words. */
  readonly errorsSoFar: string;
}

interface Chart extends FrameOptions {
  readonly id: string;
  readonly picture: (input: ChartsInput, top: SteadyTop) => ChartPicture;
}

const CHARTS: readonly Chart[] = [
  {
    id: 'throughput',
    title: 'Throughput',
    lines: TOP_AGENTS,
    picture: ({ history, window, showsTop, nameOf }, top) =>
      showsTop ? topThroughput(history, nameOf, window, top) : throughput(history.timesMs, history.fleet, window, top),
  },
  {
    id: 'transfer-time',
    title: 'Transfer time',
    lines: 3,
    isLog: true,
    picture: ({ history, window, recent }) => transferTime(history, window, recent),
  },
  {
    id: 'requests',
    title: 'Requests',
    lines: 1,
    picture: ({ history, window }, top) => requests(history, window, top),
  },
  {
    id: 'errors',
    title: 'Errors',
    lines: 5,
    picture: ({ history, window, span, errorsSoFar }, top) => errors(history, window, top, { span, note: errorsSoFar }),
  },
  {
    id: 'spread',
    title: 'Spread of transfer time',
    lines: 1,
    isLog: true,
    picture: ({ history, window, recent }) => timesPicture(history, window, recent),
  },
  {
    id: 'fill',
    title: 'Ring fill and loss',
    lines: 3,
    picture: ({ history, window, span }, top) => fillAndLoss(history, window, top, { span }),
  },
  { id: 'sizes', title: 'Transfer size', lines: 2, picture: ({ history, window }, top) => sizes(history, window, top) },
  {
    id: 'memory',
    title: 'Memory registered',
    lines: 1,
    picture: ({ history, window }, top) => memory(history, window, top),
  },
];

export class Charts {
  readonly #charts: readonly { readonly frame: ChartFrame; readonly draw: (input: ChartsInput) => void }[];
  readonly #choices: readonly HTMLElement[];

  /** `onTop`: the reader wants the top five agents, or all as one. */
  constructor(cursor: TimeCursor, onTop: (showsTop: boolean) => void) {
    this.#charts = CHARTS.map(({ id, picture, ...options }) => {
      const frame = new ChartFrame(byId(id), options, cursor);
      const tops = { one: new SteadyTop(), many: new SteadyTop() };
      return { frame, draw: (input) => frame.show(picture(input, input.showsTop ? tops.many : tops.one)) };
    });
    this.#choices = ['All', 'Top 5'].map((text, i) => {
      const button = element('button', { type: 'button' }, text);
      button.addEventListener('click', () => onTop(i === 1));
      return button;
    });
    this.#charts[0]!.frame.addToTitle(element('span', { class: 'choices' }, ...this.#choices));
  }

  show(input: ChartsInput): void {
    this.#choices.forEach((button, i) => button.setAttribute('aria-pressed', String(input.showsTop === (i === 1))));
    for (const { draw } of this.#charts) draw(input);
  }

  redraw(): void {
    for (const { frame } of this.#charts) frame.redraw();
  }
}
