/** One row per agent: sorted by any column, and a button in each that narrows the page down to it. */
import { bytes, count, duration, percent } from '../../figures/numbers.js';
import { quantile } from '../../figures/quantile.js';
import type { AgentData, PageData } from '../data.js';
import { byId, element, named, setNumber, setText } from './dom.js';
import { errorsOf, type History, type Sample } from './history.js';
import { percentileText } from './percentile-text.js';

interface Row {
  readonly agent: AgentData;
  readonly sample: Sample | undefined;
  readonly durationUs: readonly number[];
}

interface Column {
  readonly heading: string;
  /** NaN: nothing is known. */
  readonly value: (row: Row) => number;
  readonly words: (value: number, row: Row) => string;
  readonly isBad?: (value: number) => boolean;
}

const rate = (words: (value: number) => string) => (value: number) => `${words(value)}/s`;
const isSome = (value: number): boolean => value > 0;
const soFar = (q: number) => (row: Row) =>
  quantile({ bounds: row.durationUs, counts: row.agent.durations }, q)?.value ?? NaN;

const percentileWords = (us: number, { durationUs }: Row): string => percentileText(us, durationUs);

const COLUMNS: readonly Column[] = [
  { heading: 'tx rate', value: ({ sample }) => sample?.tx ?? NaN, words: rate(bytes) },
  { heading: 'rx rate', value: ({ sample }) => sample?.rx ?? NaN, words: rate(bytes) },
  { heading: 'requests', value: ({ sample }) => sample?.requests ?? NaN, words: rate(count) },
  { heading: 'p50', value: ({ sample }) => sample?.p50 ?? NaN, words: percentileWords },
  { heading: 'p99', value: ({ sample }) => sample?.p99 ?? NaN, words: percentileWords },
  { heading: 'p99 so far', value: soFar(0.99), words: percentileWords },
  { heading: 'tx bytes', value: ({ agent }) => agent.txBytes, words: bytes },
  { heading: 'rx bytes', value: ({ agent }) => agent.rxBytes, words: bytes },
  { heading: 'tx requests', value: ({ agent }) => agent.txRequests, words: count },
  { heading: 'rx requests', value: ({ agent }) => agent.rxRequests, words: count },
  { heading: 'errors', value: ({ agent }) => errorsOf(agent), words: count, isBad: isSome },
  { heading: 'memory', value: ({ agent }) => agent.memory, words: bytes },
  { heading: 'ring fill', value: ({ agent }) => agent.fill, words: percent },
  { heading: 'dropped', value: ({ agent }) => agent.dropped, words: count, isBad: isSome },
  { heading: 'found full', value: ({ agent }) => agent.foundFull, words: count, isBad: isSome },
  { heading: 'restarts', value: ({ agent }) => agent.restarts, words: count },
  { heading: 'idle', value: ({ agent }) => agent.idleMs * 1000, words: duration },
];

export class AgentsTable {
  readonly #body = byId('agents-body');
  readonly #headings: HTMLElement[] = [];
  readonly #onChoice: (agent: number | undefined) => void;
  /** Index of a column; undefined: by name. */
  #sortedBy: number | undefined;
  #descending = false;
  #chosen: number | undefined;
  readonly #lines = new Map<number, HTMLElement>();
  #redraw = (_sort: boolean): void => {};

  constructor(onChoice: (agent: number | undefined) => void) {
    this.#onChoice = onChoice;
    const line = byId('agents-head');
    for (const [i, heading] of ['agent', ...COLUMNS.map((column) => column.heading)].entries()) {
      const button = element('button', { type: 'button' }, heading);
      button.addEventListener('click', () => this.#sortBy(i === 0 ? undefined : i - 1));
      const cell = element('th', { scope: 'col' }, button);
      this.#headings.push(cell);
      line.append(cell);
    }
    this.#markHeadings();
  }

  show(data: PageData, history: History, chosen: number | undefined): void {
    this.#chosen = chosen;
    this.#redraw = (sort) => {
      const durationUs = data.bounds.durationUs;
      const rows = data.agents.map((agent) => ({ agent, sample: history.now(agent.id), durationUs }));
      rows.sort(sort ? (a, b) => this.#compare(a, b) : this.#asTheyStand());
      this.#place(rows);
    };
    // A row that is pointed at, or has the focus, must not give way to another agent's.
    this.#redraw(!this.#body.matches(':hover, :focus-within'));
  }

  #place(rows: readonly Row[]): void {
    const ids = new Set(rows.map(({ agent }) => agent.id));
    for (const [id, line] of this.#lines) {
      if (ids.has(id)) continue;
      line.remove();
      this.#lines.delete(id);
    }
    rows.forEach((row, i) => {
      const { id } = row.agent;
      const line = this.#lines.get(id) ?? this.#emptyRow(id);
      this.#lines.set(id, line);
      this.#fill(line, row);
      if (this.#body.children[i] !== line) this.#body.insertBefore(line, this.#body.children[i] ?? null);
    });
  }

  /** New ones come last. */
  #asTheyStand(): (a: Row, b: Row) => number {
    const places = new Map(Array.from(this.#body.children, (line, i) => [line, i]));
    const placeOf = ({ agent }: Row): number => places.get(this.#lines.get(agent.id) as Element) ?? places.size;
    return (a, b) => placeOf(a) - placeOf(b);
  }

  #sortBy(column: number | undefined): void {
    this.#descending = this.#sortedBy === column ? !this.#descending : column !== undefined;
    this.#sortedBy = column;
    this.#markHeadings();
    this.#redraw(true);
  }

  #markHeadings(): void {
    const sorted = this.#sortedBy === undefined ? 0 : this.#sortedBy + 1;
    this.#headings.forEach((cell, i) => {
      cell.setAttribute('aria-sort', i !== sorted ? 'none' : this.#descending ? 'descending' : 'ascending');
    });
  }

  #compare(a: Row, b: Row): number {
    const byName = a.agent.name.localeCompare(b.agent.name, 'en', { numeric: true }) || a.agent.id - b.agent.id;
    const sign = this.#descending ? -1 : 1;
    if (this.#sortedBy === undefined) return sign * byName;
    const { value } = COLUMNS[this.#sortedBy]!;
    const [x, y] = [value(a), value(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || byName;
    return sign * (x - y) || byName;
  }

  #emptyRow(id: number): HTMLElement {
    const button = element('button', { type: 'button' }, named(''));
    const state = element('span', { class: 'soft state' });
    const line = element('tr', {}, element('th', { scope: 'row' }, button, state));
    line.append(...COLUMNS.map(() => element('td', {}, element('data'))));
    button.addEventListener('click', () => this.#onChoice(id === this.#chosen ? undefined : id));
    return line;
  }

  #fill(line: HTMLElement, row: Row): void {
    const { id, name } = row.agent;
    const [button, state] = line.children[0]!.children as unknown as [HTMLElement, HTMLElement];
    setText(button.firstElementChild!, name);
    button.setAttribute('aria-pressed', String(id === this.#chosen));
    setText(state, stateOf(row.agent));
    COLUMNS.forEach(({ value, words, isBad }, i) => {
      const cell = line.children[i + 1]!;
      const number = value(row);
      const isKnown = !Number.isNaN(number);
      setNumber(cell.firstElementChild as HTMLDataElement, isKnown ? number : 0, isKnown ? words(number, row) : '–');
      cell.classList.toggle('bad', isBad?.(number) ?? false);
    });
  }
}

function stateOf({ life, suspect, memoryApproximate }: AgentData): string {
  const words = [
    ...(life === 'alive' ? [] : [life === 'dead' ? 'ended' : 'life unknown']),
    ...(suspect ? ['numbers may be off'] : []),
    ...(memoryApproximate ? ['memory seen only in part'] : []),
  ];
  return words.length === 0 ? '' : ` ${words.join(', ')}`;
}
