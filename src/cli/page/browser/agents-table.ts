/** Table of agents: sorted by any column, with a button in each row that narrows the page down to its agent. */
import type { AgentData, AgentsAnswer } from '../../api/answer.js';
import { bytes, count, duration, percent, perSecond } from '../../figures/formats.js';
import { type Percentiles, percentilesOf } from '../../figures/percentiles.js';
import { byId, element, named, setNumber, setText, UNKNOWN } from './dom.js';
import { errorsOf, type History, type Measure, type Measures } from './history.js';

interface Row {
  readonly agent: AgentData;
  readonly measures: Measures | undefined;
  /** Microseconds. */
  readonly timesSoFar: Percentiles | undefined;
}

interface Column {
  readonly heading: string;
  /** Returns the value of a row; NaN if it is unknown. */
  readonly value: (row: Row) => number;
  readonly format: (value: number) => string;
  readonly isBad?: (value: number) => boolean;
}

const measured = (measure: Measure) => (row: Row) => row.measures?.[measure] ?? NaN;
const soFar = (key: keyof Percentiles) => (row: Row) => row.timesSoFar?.[key] ?? NaN;
const isPositive = (value: number): boolean => value > 0;

const COLUMNS: readonly Column[] = [
  { heading: 'tx rate', value: measured('tx'), format: perSecond(bytes) },
  { heading: 'rx rate', value: measured('rx'), format: perSecond(bytes) },
  { heading: 'requests', value: measured('requests'), format: perSecond(count) },
  { heading: 'p50', value: measured('p50'), format: duration },
  { heading: 'p90', value: measured('p90'), format: duration },
  { heading: 'p99', value: measured('p99'), format: duration },
  { heading: 'max', value: measured('max'), format: duration },
  { heading: 'p99 so far', value: soFar('p99'), format: duration },
  { heading: 'max so far', value: soFar('max'), format: duration },
  { heading: 'tx bytes', value: ({ agent }) => agent.txBytes, format: bytes },
  { heading: 'rx bytes', value: ({ agent }) => agent.rxBytes, format: bytes },
  { heading: 'tx requests', value: ({ agent }) => agent.txRequests, format: count },
  { heading: 'rx requests', value: ({ agent }) => agent.rxRequests, format: count },
  { heading: 'errors', value: ({ agent }) => errorsOf(agent), format: count, isBad: isPositive },
  { heading: 'memory', value: ({ agent }) => agent.memoryBytes, format: bytes },
  { heading: 'ring fill', value: ({ agent }) => agent.fill, format: percent },
  { heading: 'dropped', value: ({ agent }) => agent.dropped, format: count, isBad: isPositive },
  { heading: 'found full', value: ({ agent }) => agent.foundFull, format: count, isBad: isPositive },
  { heading: 'restarts', value: ({ agent }) => agent.restarts, format: count },
  { heading: 'idle', value: ({ agent }) => agent.idleMs * 1000, format: duration },
];

export class AgentsTable {
  readonly #body = byId('agents-body');
  readonly #headings: HTMLElement[] = [];
  readonly #onChoice: (agent: number | undefined) => void;
  /** 0: the name; above: a column. */
  #sortedBy = 0;
  #descending = false;
  #chosen: number | undefined;
  readonly #lines = new Map<number, HTMLElement>();
  #redraw = (_sort: boolean): void => {};

  constructor(onChoice: (agent: number | undefined) => void) {
    this.#onChoice = onChoice;
    const line = byId('agents-head');
    for (const [i, heading] of ['agent', ...COLUMNS.map((column) => column.heading)].entries()) {
      const button = element('button', { type: 'button' }, heading);
      button.addEventListener('click', () => this.#sortBy(i));
      const cell = element('th', { scope: 'col' }, button);
      this.#headings.push(cell);
      line.append(cell);
    }
    this.#markHeadings();
  }

  show(data: AgentsAnswer, history: History, chosen: number | undefined): void {
    this.#chosen = chosen;
    this.#redraw = (sort) => {
      const rows = data.agents.map((agent) => ({
        agent,
        measures: history.now(agent.id),
        timesSoFar: percentilesOf(agent.transferTimesUs),
      }));
      rows.sort(sort ? (a, b) => this.#compare(a, b) : this.#inPlace());
      this.#place(rows);
    };
    // A row under the pointer or with the focus keeps its place: a click must not meet another agent.
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

  /** Keeps rows in their places, and appends new ones. */
  #inPlace(): (a: Row, b: Row) => number {
    const places = new Map(Array.from(this.#body.children, (line, i) => [line, i]));
    const placeOf = ({ agent }: Row): number => places.get(this.#lines.get(agent.id) as Element) ?? places.size;
    return (a, b) => placeOf(a) - placeOf(b);
  }

  #sortBy(column: number): void {
    this.#descending = this.#sortedBy === column ? !this.#descending : column > 0;
    this.#sortedBy = column;
    this.#markHeadings();
    this.#redraw(true);
  }

  #markHeadings(): void {
    this.#headings.forEach((cell, i) => {
      cell.setAttribute('aria-sort', i !== this.#sortedBy ? 'none' : this.#descending ? 'descending' : 'ascending');
    });
  }

  #compare(a: Row, b: Row): number {
    const byName = a.agent.name.localeCompare(b.agent.name, 'en', { numeric: true }) || a.agent.id - b.agent.id;
    const sign = this.#descending ? -1 : 1;
    if (this.#sortedBy === 0) return sign * byName;
    const { value } = COLUMNS[this.#sortedBy - 1]!;
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
    COLUMNS.forEach(({ value, format, isBad }, i) => {
      const cell = line.children[i + 1]!;
      const number = value(row);
      const isKnown = !Number.isNaN(number);
      setNumber(cell.firstElementChild as HTMLDataElement, isKnown ? number : 0, isKnown ? format(number) : UNKNOWN);
      cell.classList.toggle('bad', isBad?.(number) ?? false);
    });
  }
}

function stateOf({ life, suspect, memoryApproximate }: AgentData): string {
  const notes = [
    ...(life === 'alive' ? [] : [life === 'dead' ? 'ended' : 'life unknown']),
    ...(suspect ? ['numbers may be wrong'] : []),
    ...(memoryApproximate ? ['memory approximate'] : []),
  ];
  return notes.length === 0 ? '' : ` ${notes.join(', ')}`;
}
