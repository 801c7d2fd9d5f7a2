/** Table of agents: search, chips of states, order, and the rows in view. */
import { bytesRateText, numberText, plural, timeText } from '../../../ground/figures/figure.js';
import { type AgentState, labelOfAgent } from '../../../view/model/agent-model.js';
import { STATES } from '../../../view/verdict/shapes.js';
import type { Verdict } from '../../../view/verdict/types.js';
import { announce, byId, element, icon, setAttribute, setText, watchSight } from '../common/dom.js';
import type { Spark } from '../spark-paths.js';
import { hashOf, USUAL_SORT, type ViewState } from '../view.js';
import { TABLE_COLUMNS, orderOf } from './columns.js';
import { classOf, RowElement } from './row-element.js';
import { filtered, type TableRow } from './rows.js';
import { VirtualRows } from './virtual-rows.js';

export interface TableInput {
  readonly rows: readonly TableRow[];
  readonly counts: Verdict['counts'];
  readonly view: ViewState;
  readonly spark: Omit<Spark, 'values'>;
  readonly span: string;
  readonly nowMs: number;
}

const CHIPS: readonly AgentState[] = ['live', 'idle', 'unknown', 'incomplete', 'failing', 'slow', 'ended'];
/** Out of view, rows change less often: for a search of the browser and for screen readers. */
const UNSEEN_MS = 5000;
export const PROBLEMS: readonly AgentState[] = ['incomplete', 'failing', 'slow', 'ended'];

export class AgentsTable {
  readonly #onView: (change: Partial<ViewState>) => void;
  readonly #scroller = byId('scroller');
  readonly #head = byId('agents-head');
  readonly #search = byId('search') as HTMLInputElement;
  readonly #rows = new VirtualRows<number, RowElement>(this.#scroller, byId('agents-body'), () => new RowElement());
  readonly #chips = new Map<AgentState | 'all', { chip: HTMLElement; count: HTMLElement }>();
  readonly #headings: { readonly key: string; readonly cell: HTMLElement; readonly arrow: SVGElement }[] = [];
  readonly #sparkHeading: HTMLElement;
  #input: TableInput | undefined;
  #shown: readonly TableRow[] = [];
  #order: readonly number[] = [];
  #isSeen = false;
  #shownMs = -Infinity;
  /** Chosen by j and k. */
  #current: number | undefined;

  constructor(onView: (change: Partial<ViewState>) => void) {
    this.#onView = onView;
    this.#heading('name', 'Agent', 'name');
    this.#heading('state', 'State', 'state wide-only');
    for (const { id, page } of TABLE_COLUMNS) this.#heading(id, page.heading, classOf(page.from));
    this.#sparkHeading = element('th', { scope: 'col', class: 'spark-cell' });
    this.#head.append(this.#sparkHeading, element('th', { scope: 'col', class: 'phone-only' }, 'tx + rx, p99'));
    this.#makeChips();
    byId('problems-first').addEventListener('click', () => onView({ sort: USUAL_SORT }));
    this.#search.addEventListener('input', () => onView({ query: this.#search.value }));
    const follow = (): void => {
      this.#rows.measure();
      this.#showRows();
    };
    this.#scroller.addEventListener('scroll', follow);
    new ResizeObserver(follow).observe(this.#scroller);
    watchSight(this.#scroller, (isSeen) => {
      this.#isSeen = isSeen;
      if (isSeen) this.#showRows();
    });
  }

  show(input: TableInput): void {
    const isAsked = input.view !== this.#input?.view;
    this.#input = input;
    const { rows, view } = input;
    if (this.#search.value !== view.query) this.#search.value = view.query;
    setAttribute(this.#search, 'placeholder', `Search ${plural(rows.length, 'agent')}`);
    setText(this.#sparkHeading, `tx + rx, ${input.span}`);
    this.#showChips(input);
    this.#showHeadings(view.sort);
    this.#shown = this.#inOrder(filtered(rows, view), view.sort);
    this.#order = this.#shown.map(({ agent }) => agent.id);
    if (isAsked || this.#isSeen || performance.now() - this.#shownMs >= UNSEEN_MS) this.#showRows();
    const isNone = this.#shown.length === 0 && rows.length > 0;
    byId('no-match').hidden = !isNone;
    if (isNone) setText(byId('no-match'), `None of ${plural(rows.length, 'agent')} matches. Esc clears the search.`);
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  /** Moves the current row, and returns the name of its agent; undefined without rows. */
  move(steps: number): string | undefined {
    const open = this.#shown.findIndex(({ agent }) => agent.name === this.#input?.view.agent);
    const at = this.#current === undefined ? open : this.#order.indexOf(this.#current);
    const next = at === -1 ? 0 : Math.min(this.#shown.length - 1, Math.max(0, at + steps));
    const agent = this.#shown[next]?.agent;
    if (agent === undefined) return undefined;
    this.#current = agent.id;
    this.#rows.reveal(next, this.#head.clientHeight);
    this.#showRows();
    announce(spoken(this.#shown[next]!, next + 1, this.#shown.length));
    return agent.name;
  }

  /** Returns the name of the agent beside another one in the order of the table. */
  neighbour(name: string, steps: number): string | undefined {
    const at = this.#shown.findIndex(({ agent }) => agent.name === name);
    return this.#shown[at + steps]?.agent.name;
  }

  /** Scrolls the row of an agent into view. */
  reveal(name: string): void {
    const at = this.#shown.findIndex(({ agent }) => agent.name === name);
    if (at !== -1) this.#rows.reveal(at, this.#head.clientHeight);
  }

  /** Agents that match the filter, in the order of the table. */
  get order(): readonly number[] {
    return this.#order;
  }

  get currentName(): string | undefined {
    return this.#shown.find(({ agent }) => agent.id === this.#current)?.agent.name;
  }

  /** Rows under a pointer or with the focus keep their places: a click must not meet another agent. */
  #inOrder(rows: TableRow[], sort: string): TableRow[] {
    const order = orderOf(sort);
    if (!this.#rows.isHeld) return rows.sort(order);
    const places = new Map(this.#order.map((id, i) => [id, i]));
    const placeOf = ({ agent }: TableRow): number => places.get(agent.id) ?? Infinity;
    return rows.sort((a, b) => (placeOf(a) === placeOf(b) ? order(a, b) : placeOf(a) - placeOf(b)));
  }

  #showRows(): void {
    if (this.#input === undefined) return;
    const { view, spark, nowMs } = this.#input;
    this.#shownMs = performance.now();
    setAttribute(byId('agents-table'), 'aria-rowcount', String(this.#shown.length + 1));
    this.#rows.show(this.#order, (element_, i) => {
      const row = this.#shown[i]!;
      const { name, id } = row.agent;
      element_.show(row, {
        neighbours: [i - 1, i + 1].map((at) => this.#shown[at] && labelOfAgent(this.#shown[at].agent)),
        address: hashOf({ ...view, agent: name }),
        isOpen: name === view.agent,
        isCurrent: id === this.#current,
        index: i + 1,
        spark,
        nowMs,
      });
    });
  }

  #heading(key: string, text: string, classes: string): void {
    const arrow = icon('up');
    const button = element('button', { type: 'button' }, text, arrow);
    const cell = element('th', { scope: 'col', class: classes }, button);
    button.addEventListener('click', () => this.#onView({ sort: nextSort(key, this.#input!.view.sort) }));
    this.#headings.push({ key, cell, arrow });
    this.#head.append(cell);
  }

  #showHeadings(sort: string): void {
    for (const { key, cell, arrow } of this.#headings) {
      const direction = sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : 'none';
      setAttribute(cell, 'aria-sort', direction);
      arrow.style.visibility = direction === 'none' ? 'hidden' : 'visible';
      setAttribute(arrow.firstElementChild!, 'href', direction === 'descending' ? '#icon-down' : '#icon-up');
    }
    setAttribute(byId('problems-first'), 'aria-pressed', String(sort === USUAL_SORT));
  }

  #makeChips(): void {
    for (const state of ['all', ...CHIPS] as const) {
      const count = element('b');
      const label = state === 'all' ? 'All' : STATES[state].word.replace(/^./, (letter) => letter.toUpperCase());
      const signs = state === 'all' ? [] : [icon(STATES[state].shape)];
      const chip = element('button', { type: 'button', class: 'chip' }, ...signs, `${label} `, count);
      if (state !== 'all') chip.dataset['tone'] = STATES[state].tone;
      chip.addEventListener('click', () => this.#toggle(state));
      this.#chips.set(state, { chip, count });
      byId('chips').append(chip);
    }
  }

  #toggle(state: AgentState | 'all'): void {
    const { states } = this.#input!.view;
    if (state === 'all') this.#onView({ states: [] });
    else this.#onView({ states: states.includes(state) ? states.filter((one) => one !== state) : [...states, state] });
  }

  #showChips({ counts, rows, view }: TableInput): void {
    for (const [state, { chip, count }] of this.#chips) {
      const number = state === 'all' ? rows.length : counts[state];
      setText(count, String(number));
      const isPressed = state === 'all' ? view.states.length === 0 : view.states.includes(state);
      setAttribute(chip, 'aria-pressed', String(isPressed));
      chip.classList.toggle('none', number === 0);
    }
  }
}

/** Returns a row in words. `place`: from 1. */
function spoken({ agent, state, transferTimeUs, ...row }: TableRow, place: number, count: number): string {
  const rates = `tx ${bytesRateText(row.txBytesPerSecond)}, rx ${bytesRateText(row.rxBytesPerSecond)}`;
  const p99 = timeText(transferTimeUs?.p99);
  const errors = row.errorsPerSecond;
  const failed = errors === undefined || errors === 0 ? '' : `, ${numberText(errors)} errors/s`;
  return `${labelOfAgent(agent)}, ${place} of ${count}: ${STATES[state].word}, ${rates}, p99 ${p99}${failed}`;
}

/** The first click sorts names upwards and numbers downwards, the second one the other way. */
function nextSort(key: string, sort: string): string {
  const isNumber = TABLE_COLUMNS.some(({ id, unit }) => id === key && unit !== 'text');
  const first = isNumber ? `-${key}` : key;
  const other = first === key ? `-${key}` : key;
  return sort === first ? other : first;
}
