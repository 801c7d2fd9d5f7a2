/** The eight charts of the page. */
import { byId, element } from '../common/dom.js';
import { ChartFrame, type FrameOptions } from './frame.js';
import type { ChartPicture, ChartsInput } from './picture.js';
import { memory, requests, throughput, TOP_AGENTS } from './rates.js';
import { SteadyTop } from './scales.js';
import { sizes } from './sizes.js';
import type { TimeCursor } from './time-cursor.js';
import { spread, transferTime } from './times.js';
import { errors, fillAndLoss } from './troubles.js';

interface Chart extends FrameOptions {
  readonly id: string;
  readonly picture: (input: ChartsInput, top: SteadyTop) => ChartPicture;
}

const CHARTS: readonly Chart[] = [
  { id: 'throughput', title: 'Throughput', lines: TOP_AGENTS, picture: throughput },
  { id: 'transfer-time', title: 'Transfer time', lines: 3, isLog: true, picture: transferTime },
  { id: 'requests', title: 'Requests', lines: 1, picture: requests },
  { id: 'errors', title: 'Errors', lines: 5, picture: errors },
  { id: 'spread', title: 'Spread of transfer time', lines: 1, isLog: true, picture: spread },
  { id: 'fill', title: 'Ring fill and loss', lines: 3, picture: fillAndLoss },
  { id: 'sizes', title: 'Transfer size', lines: 2, picture: sizes },
  { id: 'memory', title: 'Memory registered', lines: 1, picture: memory },
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
