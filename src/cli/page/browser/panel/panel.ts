/** The panel with everything that is known of one agent. */
import type { AgentDetail } from '../../../api/answer.js';
import type { HistoryAnswer } from '../../../api/history-answer.js';
import { bytesRateFigure, counted, type Figure, figureText, rateFigure, timeFigure } from '../../../figures/figure.js';
import { binaryBytes } from '../../../figures/formats.js';
import { STATES } from '../../../verdict/shapes.js';
import type { Finding } from '../../../verdict/types.js';
import { errorsOf, type Row } from '../agents/rows.js';
import { Frame } from '../charts/frame.js';
import { columnsOf, throughput } from '../charts/rates.js';
import { SteadyTop } from '../charts/scales.js';
import type { TimeCursor } from '../charts/time-cursor.js';
import { agentTime } from '../charts/times.js';
import type { Window } from '../charts/window.js';
import { length, since } from '../clock.js';
import { byId, element, figurePlace, icon, setFigure, setIcon, setNumber, setRows, setShare, setText } from '../dom.js';
import { BarTable } from './bars.js';
import { bucketRows } from './bucket-rows.js';
import { type Fact, memoryFacts, placeFacts, ringFacts, workFacts } from './facts.js';

export interface PanelInput {
  readonly agent: AgentDetail;
  readonly row: Row;
  readonly statuses: readonly string[];
  readonly findings: readonly Finding[];
  readonly history: HistoryAnswer;
  readonly window: Window;
  /** False if the charts show a time that is over. */
  readonly isLive: boolean;
  readonly nowMs: number;
}

const FIGURES: readonly (readonly [label: string, figure: (row: Row) => Figure])[] = [
  ['tx', ({ tx }) => bytesRateFigure(tx)],
  ['rx', ({ rx }) => bytesRateFigure(rx)],
  ['Requests', ({ requests }) => perSecond(requests)],
  ['Errors', ({ errors }) => perSecond(errors)],
  ['p50', ({ agent }) => timeFigure(agent.recentTransferTimeUs?.p50)],
  ['p90', ({ agent }) => timeFigure(agent.recentTransferTimeUs?.p90)],
  ['p99', ({ agent }) => timeFigure(agent.recentTransferTimeUs?.p99)],
  ['Post p99', ({ agent }) => timeFigure(agent.recentPostTimeUs?.p99)],
];

function perSecond(value: number | undefined): Figure {
  const { value: text, unit } = rateFigure(value);
  return { value: text, unit: `${unit}/s` };
}

export class Panel {
  readonly #panel = byId('panel');
  readonly #sign = icon('dot');
  readonly #figures = FIGURES.map(() => figurePlace());
  readonly #throughput: Frame;
  readonly #time: Frame;
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
        element('div', {}, element('dt', {}, label), element('dd', {}, this.#figures[i]!)),
      ),
    );
    this.#throughput = new Frame(byId('panel-throughput'), { title: 'Throughput', lines: 2, heading: 'h3' }, cursor);
    this.#time = new Frame(
      byId('panel-time'),
      { title: 'Transfer time', lines: 3, isLog: true, heading: 'h3' },
      cursor,
    );
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
    FIGURES.forEach(([, figure], i) => setFigure(this.#figures[i]!, figure(row)));
    const columns = columnsOf(history, agent.id);
    if (columns !== undefined) {
      this.#throughput.show(throughput(history.agentTimesMs, columns, window, this.#top, isLive ? row : {}));
      this.#time.show(
        agentTime(history.agentTimesMs, columns, window, isLive ? agent.recentTransferTimeUs : undefined),
      );
    }
    const time = (us: number): string => figureText(timeFigure(us));
    this.#tables.times.show(bucketRows(agent.transferTimesUs, time));
    this.#tables.posts.show(bucketRows(agent.postTimesUs, time));
    this.#tables.tx.show(bucketRows(agent.txSizes, binaryBytes));
    this.#tables.rx.show(bucketRows(agent.rxSizes, binaryBytes));
    const failed = agent.errors.map((count, i) => ({ label: statuses[i]!, count })).filter(({ count }) => count > 0);
    this.#tables.errors.show(failed.sort((a, b) => b.count - a.count));
    byId('place-errors').dataset['errors'] = agent.troubles.errors === undefined ? 'past' : 'present';
    setText(byId('panel-errors-sum'), errorsText(agent, input.nowMs));
    showFacts('panel-work', workFacts(agent));
    showFacts('panel-ring', ringFacts(agent));
    setShare(byId('panel-fill'), agent.fill);
    byId('panel-fill').classList.toggle('warn', agent.troubles.full !== undefined);
    showFacts('panel-memory', memoryFacts(agent));
    showFacts('panel-place', placeFacts(agent, input.nowMs));
  }

  redraw(): void {
    this.#throughput.redraw();
    this.#time.redraw();
  }

  #showHead({ agent, row, nowMs }: PanelInput): void {
    const { shape, tone, word } = STATES[row.state];
    setText(byId('panel-name'), agent.name);
    this.#sign.parentElement!.dataset['tone'] = tone;
    setIcon(this.#sign, shape);
    setText(byId('panel-state'), word);
    byId('panel-state').className = tone;
    const counting = `counted since ${since(agent.startTimeMs, nowMs)} (${length(nowMs - agent.startTimeMs)})`;
    setText(byId('panel-since'), ` · ${counting} · ${counted(agent.restarts, 'restart')}`);
  }

  #showNotes({ agent, findings }: PanelInput): void {
    const make = (): HTMLElement => element('li', { class: 'finding' }, icon('triangle'), element('p'));
    setRows(byId('panel-findings'), findings, make, (row, { tone, shape, sentence, advice }) => {
      row.dataset['tone'] = tone;
      setIcon(row.children[0]!, shape);
      const what = aboutAgent(sentence, agent.name);
      setText(row.children[1]!, advice === undefined ? `${what}.` : `${what}. ${advice}`);
    });
  }
}

/** Leaves the name out where it is the heading. */
function aboutAgent(sentence: string, name: string): string {
  if (!sentence.startsWith(name)) return sentence;
  return sentence.slice(name.length).replace(/^[:,]?\s*(.)/, (_, letter: string) => letter.toUpperCase());
}

function errorsText(agent: AgentDetail, nowMs: number): string {
  const all = errorsOf(agent);
  return all === 0 ? '' : `${counted(all, 'error')} since ${since(agent.startTimeMs, nowMs)}`;
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
