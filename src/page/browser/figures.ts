/** Two large numbers with sparklines, and six smaller ones. */
import type { AgentsAnswer } from '../../view/answers/answer.js';
import type { Column, HistoryAnswer } from '../../view/answers/history-answer.js';
import { momentText, spanText } from '../../ground/figures/clock.js';
import {
  bytesFigure,
  bytesRateFigure,
  type Figure,
  figureText,
  leastFigure,
  numberFigure,
  numberText,
  percent,
  perSecondFigure,
  plural,
  rangeText,
  timeFigure,
  timeText,
} from '../../ground/figures/figure.js';
import { errorsOf, requestsOf, type ServedAgent } from '../../view/model/agent-model.js';
import { SteadyTop } from './charts/scales.js';
import { added, highest } from './common/series.js';
import {
  byId,
  element,
  figurePlace,
  icon,
  type IconName,
  mark,
  setAttribute,
  setFigure,
  setIcon,
  setNumber,
  setText,
} from './common/dom.js';
import { newest } from './common/history.js';
import { heightOf, thinned } from './spark-paths.js';
import { setSpark, sparkElement } from './sparkline.js';

export interface FiguresInput {
  readonly answer: AgentsAnswer<ServedAgent>;
  readonly history: HistoryAnswer;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The numbers are too low from this time on. */
  readonly tooLowMs?: number;
  /** Set if there is no newer answer: `12 s old`. */
  readonly age?: string;
}

const KEPT_MS = 10 * 60_000;
const LEAST_SHOWN_MS = 60_000;

/** One large number. `parts`: label and colour of the smaller numbers below it. */
class BigNumber {
  readonly #value = figurePlace('value');
  readonly #tag = element('span', { class: 'tag' });
  readonly #parts: readonly HTMLElement[];
  readonly #span = element('span', { class: 'span' });
  readonly #usual = element('span', { class: 'usual-range' });
  readonly #spark = sparkElement();
  readonly #band = element('i', { class: 'usual' });
  readonly #tooLow = element('i', { class: 'too-low' });
  readonly #top = new SteadyTop();

  constructor(id: string, title: string, colour: string, parts: readonly (readonly [string, string])[]) {
    this.#parts = parts.map(() => element('b'));
    const texts = parts.map(([label, name], i) =>
      element('span', {}, mark('swatch', name), `${label} `, this.#parts[i]!),
    );
    const spark = element('div', { class: 'spark', 'aria-hidden': 'true' }, this.#band, this.#spark, this.#tooLow);
    spark.style.color = `var(--${colour})`;
    byId(id).append(
      element('h2', {}, title, this.#tag, this.#span),
      this.#value,
      spark,
      element('p', { class: 'parts' }, ...texts, this.#usual),
    );
  }

  show(
    value: Figure,
    parts: readonly Figure[],
    column: Column,
    figure: (value: number) => Figure,
    { history, nowMs, tooLowMs }: FiguresInput,
  ): void {
    setFigure(this.#value, value);
    this.#parts.forEach((part, i) => setText(part, figureText(parts[i]!)));
    // A young history fills the whole width.
    const from = Math.max(nowMs - KEPT_MS, Math.min(nowMs - LEAST_SHOWN_MS, history.timesMs[0] ?? nowMs));
    setText(this.#span, spanText(Math.round((nowMs - from) / 10_000) * 10_000));
    const top = this.#top.next(highest(column), 1);
    setSpark(this.#spark, { ...thinned(history.timesMs, column), from, to: nowMs, top });
    this.#tooLow.hidden = tooLowMs === undefined;
    this.#tooLow.style.left = `${(100 * Math.max(0, (tooLowMs ?? 0) - from)) / (nowMs - from)}%`;
    this.#showUsual(column, top, figure);
  }

  #showUsual(column: Column, top: number, figure: (value: number) => Figure): void {
    const usual = usualRange(column);
    this.#band.hidden = usual === undefined;
    setText(this.#usual, usual === undefined ? '' : `usual ${rangeText(figure(usual[0]), figure(usual[1]))}`);
    if (usual === undefined) return;
    const [low, high] = usual.map((value) => heightOf(value, top));
    this.#band.style.inset = `${high}% 0 ${100 - low!}% 0`;
    setAttribute(this.#usual, 'title', `Half of the last ${this.#span.textContent} was in this range`);
  }

  tag(text: string | undefined, shape: IconName): void {
    this.#tag.hidden = text === undefined;
    if (text !== undefined && this.#tag.textContent !== text) this.#tag.replaceChildren(icon(shape), text);
  }
}

/** Fewer points say little about what is usual. */
const LEAST_POINTS = 60;

/** Returns the range of the middle half of the known values; undefined for few values. */
function usualRange(column: Column): readonly [low: number, high: number] | undefined {
  const known = column.filter((value) => value !== null).sort((a, b) => a - b);
  if (known.length < LEAST_POINTS) return undefined;
  const outside = Math.floor(known.length / 4);
  return [known[outside]!, known[known.length - 1 - outside]!];
}

interface Small {
  readonly value: Figure;
  readonly total?: number;
  /** Text around the total. */
  readonly note: string;
  readonly problem?: { readonly tone: 'warn' | 'bad'; readonly shape: IconName };
}

const SMALL = ['Requests', 'Errors', 'Post time p99', 'Memory registered', 'Fullest ring', 'Events lost'] as const;

class SmallNumber {
  readonly #sign = icon('triangle');
  readonly #figure = figurePlace();
  readonly #value = element('dd', { class: 'value' }, this.#sign, this.#figure);
  readonly #total = element('data');
  readonly #words = element('span');
  readonly node: HTMLElement;

  constructor(label: string) {
    const note = element('dd', { class: 'note' }, this.#total, this.#words);
    this.node = element('div', {}, element('dt', {}, label), this.#value, note);
  }

  show({ value, total, note, problem }: Small): void {
    setFigure(this.#figure, value);
    this.#sign.toggleAttribute('hidden', problem === undefined);
    if (problem !== undefined) setIcon(this.#sign, problem.shape);
    this.#value.className = `value ${problem?.tone ?? ''}`;
    this.#total.hidden = total === undefined;
    if (total !== undefined) setNumber(this.#total, total, numberText(total));
    setText(this.#words, total === undefined ? note : ` ${note}`);
    this.#words.title = note;
  }
}

/** Makes the figures. Returns a function that shows the numbers of an answer. */
export function makeFigures(): (input: FiguresInput) => void {
  const throughput = new BigNumber('big-throughput', 'Throughput', 'tx', [
    ['tx', 'tx'],
    ['rx', 'rx'],
  ]);
  const time = new BigNumber('big-time', 'Transfer time p99', 'p90', [
    ['p50', 'p50'],
    ['p90', 'p90'],
  ]);
  const small = SMALL.map((label) => new SmallNumber(label));
  byId('small-figures').append(...small.map(({ node }) => node));
  return (input) => {
    const { answer, history, age } = input;
    const { fleet } = history;
    const [tx, rx] = [newest(fleet.tx), newest(fleet.rx)];
    const sum = tx === undefined || rx === undefined ? undefined : tx + rx;
    const directions = [bytesRateFigure(tx), bytesRateFigure(rx)];
    throughput.show(bytesRateFigure(sum), directions, added(fleet.tx, fleet.rx), bytesRateFigure, input);
    const times = answer.recentTransferTimeUs;
    time.show(timeFigure(times?.p99), [timeFigure(times?.p50), timeFigure(times?.p90)], fleet.p99, timeFigure, input);
    const full = answer.agents.filter(({ troubles }) => troubles.full !== undefined).length;
    if (age !== undefined) throughput.tag(age, 'clock');
    else throughput.tag(full === 0 ? undefined : `too low: ${plural(full, 'ring')} full`, 'triangle');
    if (age !== undefined) time.tag(age, 'clock');
    else time.tag(full === 0 ? undefined : 'incomplete', 'triangle');
    smallNumbers(input, full).forEach((one, i) => small[i]!.show(one));
  };
}

function smallNumbers({ answer, history, nowMs }: FiguresInput, full: number): Small[] {
  const { agents } = answer;
  const begin = `since ${momentText(Math.min(answer.startedMs, ...agents.map(({ startTimeMs }) => startTimeMs)), nowMs)}`;
  const sum = (of: (agent: ServedAgent) => number): number => agents.reduce((all, agent) => all + of(agent), 0);
  const failing = agents.some(({ troubles }) => troubles.errors !== undefined);
  const [fullest] = [...agents].sort((a, b) => b.fill - a.fill);
  const post = answer.recentPostTimeUs;
  const ended = agents.filter(({ life }) => life === 'dead').length;
  const isApproximate = agents.some(({ memoryApproximate }) => memoryApproximate);
  const warning = { tone: 'warn', shape: 'triangle' } as const;
  return [
    {
      value: perSecondFigure(newest(history.fleet.requests)),
      total: sum(requestsOf),
      note: begin,
      ...(full > 0 ? { problem: warning } : {}),
    },
    {
      value: perSecondFigure(errorRate(history)),
      total: sum(errorsOf),
      note: begin,
      ...(failing ? { problem: { tone: 'bad', shape: 'diamond' } } : {}),
    },
    { value: timeFigure(post?.p99), note: `p50 ${timeText(post?.p50)}` },
    {
      // The memory of an ended process is registered no more.
      value: bytesFigure(sum(({ memoryBytes, life }) => (life === 'dead' ? 0 : memoryBytes))),
      note: `${plural(agents.length, 'agent')}${ended === 0 ? '' : ` (${ended} ended)`}, ${isApproximate ? 'approximate' : 'exact'}`,
    },
    {
      value: { value: percent(fullest?.fill), unit: '' },
      note: fullest?.name ?? '',
      ...(full > 0 ? { problem: warning } : {}),
    },
    lost(sum, full, begin, warning),
  ];
}

/** Returns the lost events: a lower bound after a full ring, because the events that it refuses are counted nowhere. */
function lost(
  sum: (of: (agent: ServedAgent) => number) => number,
  full: number,
  begin: string,
  problem: NonNullable<Small['problem']>,
): Small {
  const least = sum((agent) => agent.lost);
  const foundFull = sum((agent) => agent.foundFull);
  if (full === 0 && foundFull === 0) return { value: numberFigure(least), total: least, note: begin };
  const value = leastFigure(least, 'not known');
  if (full > 0) return { value, note: `refused by ${plural(full, 'full ring')}`, problem };
  return { value, note: `rings full ${numberText(foundFull)}× ${begin}` };
}

function errorRate({ fleet }: HistoryAnswer): number | undefined {
  const rates = Object.values(fleet.errors).map((column) => newest(column) ?? 0);
  if (newest(fleet.requests) === undefined) return undefined;
  return rates.reduce((sum, rate) => sum + rate, 0);
}
