/** The panel with everything that is known of one agent. */
import type { AgentDetail } from '../../../view/answers/answer.js';
import type { HistoryAnswer } from '../../../view/answers/history-answer.js';
import { momentText, spanText } from '../../../ground/figures/clock.js';
import {
  binaryText,
  bytesRateFigure,
  type Figure,
  numberText,
  perSecondFigure,
  plural,
  timeFigure,
  timeText,
} from '../../../ground/figures/figure.js';
import { errorsOf, labelOfAgent } from '../../../view/model/agent-model.js';
import { STATES } from '../../../view/verdict/shapes.js';
import type { Finding } from '../../../view/verdict/types.js';
import type { TableRow } from '../agents/rows.js';
import { ChartFrame, type FrameOptions } from '../charts/frame.js';
import { throughputOf } from '../charts/rates.js';
import { SteadyTop } from '../charts/scales.js';
import type { TimeCursor } from '../charts/time-cursor.js';
import { agentTime } from '../charts/times.js';
import type { Window } from '../charts/window.js';
import {
  byId,
  element,
  figurePlace,
  icon,
  setFigure,
  setIcon,
  setNumber,
  setRows,
  setShare,
  setText,
} from '../common/dom.js';
import { BarTable } from './bars.js';
import { bucketRows } from './bucket-rows.js';
import { type Fact, memoryFacts, placeFacts, ringFacts, wayFacts, workFacts } from './facts.js';
import type { HostPort } from '../../../way/way.js';

export interface PanelInput {
  readonly agent: AgentDetail;
  readonly row: TableRow;
  readonly statuses: readonly string[];
  readonly findings: readonly Finding[];
  readonly ports: readonly HostPort[];
  readonly history: HistoryAnswer;
  readonly window: Window;
  /** False if the charts show a time that is over. */
  readonly isLive: boolean;
  readonly nowMs: number;
}

type FigureRow = readonly [
  label: string,
  figure: (row: TableRow) => Figure,
  count?: (row: TableRow) => number | undefined,
];

/** Transfers behind a percentile. */
const timed = ({ transferTimeUs }: TableRow): number | undefined => transferTimeUs?.count;
const posted = ({ postTimeUs }: TableRow): number | undefined => postTimeUs?.count;

const FIGURES: readonly FigureRow[] = [
  ['tx', (row) => bytesRateFigure(row.txBytesPerSecond)],
  ['rx', (row) => bytesRateFigure(row.rxBytesPerSecond)],
  ['Requests', (row) => perSecondFigure(row.requestsPerSecond)],
  ['Errors', (row) => perSecondFigure(row.errorsPerSecond)],
  ['p50', ({ transferTimeUs }) => timeFigure(transferTimeUs?.p50), timed],
  ['p90', ({ transferTimeUs }) => timeFigure(transferTimeUs?.p90), timed],
  ['p99', ({ transferTimeUs }) => timeFigure(transferTimeUs?.p99), timed],
  ['Post p99', ({ postTimeUs }) => timeFigure(postTimeUs?.p99), posted],
];

export class Panel {
  readonly #panel = byId('panel');
  readonly #sign = icon('dot');
  readonly #figures = FIGURES.map(() => figurePlace());
  readonly #counts = FIGURES.map(() => element('span', { class: 'soft' }));
  readonly #throughput: ChartFrame;
  readonly #time: ChartFrame;
  #top = new SteadyTop();
  readonly #tables = {
    times: new BarTable('panel-times', 'Transfers by transfer time', 'up to', 'p90', 'None.'),
    posts: new BarTable('panel-posts', 'Transfers by post time', 'up to', 'idle', 'None.'),
    tx: new BarTable('panel-tx', 'Transfers by size, tx', 'up to', 'tx', 'None.'),
    rx: new BarTable('panel-rx', 'Transfers by size, rx', 'up to', 'rx', 'None.'),
    errors: new BarTable('panel-errors', 'Errors by status', 'status', 'idle', 'None so far.'),
  };
  #name: string | undefined;

  constructor(cursor: TimeCursor, onMove: (steps: number) => void, onClose: () => void) {
    byId('panel-state').before(this.#sign);
    byId('panel-figures').append(
      ...FIGURES.map(([label], i) =>
        element('div', {}, element('dt', {}, label, this.#counts[i]!), element('dd', {}, this.#figures[i]!)),
      ),
    );
    const chart = (id: string, options: FrameOptions): ChartFrame =>
      new ChartFrame(byId(id), { ...options, heading: 'h3' }, cursor);
    this.#throughput = chart('panel-throughput', { title: 'Throughput', lines: 2 });
    this.#time = chart('panel-time', { title: 'Transfer time', lines: 3, isLog: true });
    for (const [key, table] of Object.entries(this.#tables)) byId(`place-${key}`).append(table.node);
    byId('panel-up').addEventListener('click', () => onMove(-1));
    byId('panel-down').addEventListener('click', () => onMove(1));
    byId('panel-close').addEventListener('click', onClose);
  }

  close(): void {
    this.#panel.hidden = true;
    this.#name = undefined;
    delete document.documentElement.dataset['panel'];
  }

  /** Opens the panel before its data arrive. `note`: why there are none. */
  open(name: string, note: string): void {
    if (this.#name !== name) {
      this.#panel.hidden = false;
      this.#panel.scrollTop = 0;
      this.#name = name;
      this.#top = new SteadyTop();
      document.documentElement.dataset['panel'] = 'open';
      setText(byId('panel-name'), name);
      byId('panel-body').hidden = true;
    }
    setText(byId('panel-note'), note);
    byId('panel-note').hidden = note === '' || !byId('panel-body').hidden;
  }

  show(input: PanelInput): void {
    const { agent, row, statuses, history, window, isLive } = input;
    byId('panel-body').hidden = false;
    byId('panel-note').hidden = true;
    this.#showHead(input);
    this.#showNotes(input);
    FIGURES.forEach(([, figure, countIn], i) => {
      setFigure(this.#figures[i]!, figure(row));
      const count = countIn?.(row);
      setText(this.#counts[i]!, count === undefined ? '' : ` of ${numberText(count)}`);
    });
    const { agentTimesMs: times, agents } = history;
    const columns = agents.find(({ id }) => id === agent.id);
    if (columns !== undefined) {
      const now = isLive ? { tx: row.txBytesPerSecond, rx: row.rxBytesPerSecond } : {};
      this.#throughput.show(throughputOf(times, columns, window, this.#top, now));
      this.#time.show(agentTime(times, columns, window, isLive ? agent.recentTransferTimeUs : undefined));
    }
    this.#tables.times.show(bucketRows(agent.transferTimesUs, timeText));
    this.#tables.posts.show(bucketRows(agent.postTimesUs, timeText));
    this.#tables.tx.show(bucketRows(agent.txSizes, binaryText));
    this.#tables.rx.show(bucketRows(agent.rxSizes, binaryText));
    const failed = agent.errors.map((count, i) => ({ label: statuses[i]!, count })).filter(({ count }) => count > 0);
    this.#tables.errors.show(failed.sort((a, b) => b.count - a.count));
    byId('place-errors').dataset['errors'] = agent.troubles.errors === undefined ? 'past' : 'present';
    setText(byId('panel-errors-sum'), errorsText(agent, input.nowMs));
    showFacts('panel-work', workFacts(agent));
    showFacts('panel-ring', ringFacts(agent));
    setShare(byId('panel-fill'), agent.fill);
    byId('panel-fill').classList.toggle('warn', agent.troubles.full !== undefined);
    showFacts('panel-memory', memoryFacts(agent));
    const way = wayFacts(agent, input.ports);
    byId('panel-way').parentElement!.hidden = way.length === 0;
    showFacts('panel-way', way);
    showFacts('panel-place', placeFacts(agent, input.nowMs));
  }

  redraw(): void {
    this.#throughput.redraw();
    this.#time.redraw();
  }

  #showHead({ agent, row, nowMs }: PanelInput): void {
    const { shape, tone, word } = STATES[row.state];
    setText(byId('panel-name'), labelOfAgent(agent));
    this.#sign.parentElement!.dataset['tone'] = tone;
    setIcon(this.#sign, shape);
    setText(byId('panel-state'), word);
    byId('panel-state').className = tone;
    const counting = `counted since ${momentText(agent.startTimeMs, nowMs)} (${spanText(nowMs - agent.startTimeMs)})`;
    setText(byId('panel-since'), ` · ${counting} · ${plural(agent.restarts, 'restart')}`);
  }

  #showNotes({ agent, findings }: PanelInput): void {
    const make = (): HTMLElement => element('li', { class: 'finding' }, icon('triangle'), element('p'));
    setRows(byId('panel-findings'), findings, make, (row, { tone, shape, sentence, advice }) => {
      row.dataset['tone'] = tone;
      setIcon(row.children[0]!, shape);
      const what = aboutAgent(sentence, [labelOfAgent(agent), agent.name]);
      setText(row.children[1]!, advice === undefined ? `${what}.` : `${what}. ${advice}`);
    });
  }
}

/** Leaves the name out where it is the heading. */
function aboutAgent(sentence: string, names: readonly string[]): string {
  const name = names.find((one) => sentence.startsWith(one));
  if (name === undefined) return sentence;
  return sentence.slice(name.length).replace(/^[:,]?\s*(.)/, (_, letter: string) => letter.toUpperCase());
}

function errorsText(agent: AgentDetail, nowMs: number): string {
  const all = errorsOf(agent);
  return all === 0 ? '' : `${plural(all, 'error')} since ${momentText(agent.startTimeMs, nowMs)}`;
}

function showFacts(id: string, facts: readonly Fact[]): void {
  const make = (): HTMLElement => element('div', {}, element('dt'), element('dd', {}, element('data')));
  setRows(byId(id), facts, make, ({ children }, [label, text, exact]) => {
    setText(children[0]!, label);
    const number = children[1]!.firstElementChild as HTMLDataElement;
    if (exact === undefined) setText(number, text);
    else setNumber(number, exact, text);
  });
}
