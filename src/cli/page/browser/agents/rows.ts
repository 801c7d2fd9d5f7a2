/** Rows of the table of agents, as data: figures, state, order and filter. Pure. */
import type { AgentSummary } from '../../../api/answer.js';
import type { AgentColumns, Column } from '../../../api/history-answer.js';
import type { Interval } from '../../../figures/rates.js';
import type { AgentState, StateOfAgent } from '../../../verdict/types.js';
import { added } from '../series.js';

/** Rates per second; undefined: unknown. */
export interface Row {
  readonly agent: AgentSummary;
  readonly state: AgentState;
  readonly sinceMs?: number;
  readonly tx: number | undefined;
  readonly rx: number | undefined;
  readonly requests: number | undefined;
  readonly errors: number | undefined;
  /** Bytes per second in both directions, at the times of the agents' history. */
  readonly moved: Column;
}

export const errorsOf = ({ errors }: AgentSummary): number => errors.reduce((sum, count) => sum + count, 0);
export const requestsOf = ({ txRequests, rxRequests }: AgentSummary): number => txRequests + rxRequests;

const NONE: Column = [];
/** Most answers have no new points of agents: the columns of the former ones stay. */
const sums = new WeakMap<AgentColumns, Column>();

function movedIn(columns: AgentColumns): Column {
  const known = sums.get(columns) ?? added(columns.tx, columns.rx);
  sums.set(columns, known);
  return known;
}

export function rowsOf(
  agents: readonly AgentSummary[],
  interval: Interval<AgentSummary>,
  states: ReadonlyMap<number | string, StateOfAgent>,
  history: ReadonlyMap<number, AgentColumns>,
): Row[] {
  return agents.map((agent) => {
    const rate = (counter: (one: AgentSummary) => number): number | undefined => interval.rate([agent], counter);
    const columns = history.get(agent.id);
    const found = states.get(agent.id);
    return {
      agent,
      state: found?.state ?? 'live',
      ...(found?.sinceMs === undefined ? {} : { sinceMs: found.sinceMs }),
      tx: rate(({ txBytes }) => txBytes),
      rx: rate(({ rxBytes }) => rxBytes),
      requests: rate(requestsOf),
      errors: rate(errorsOf),
      moved: columns === undefined ? NONE : movedIn(columns),
    };
  });
}

export interface Filter {
  readonly query: string;
  readonly states: readonly AgentState[];
}

/** Keeps rows whose names contain the query, in any case of letters, and that are in one of the states. */
export function filtered(rows: readonly Row[], { query, states }: Filter): Row[] {
  const text = query.trim().toLowerCase();
  return rows.filter(
    ({ agent, state }) =>
      (states.length === 0 || states.includes(state)) && (text === '' || agent.name.toLowerCase().includes(text)),
  );
}

const collator = new Intl.Collator('en', { numeric: true });
/** Names by their numbers: tp2 before tp10. */
export function byName(a: Row, b: Row): number {
  return collator.compare(a.agent.name, b.agent.name) || a.agent.id - b.agent.id;
}

/** Returns the length of the part of a name that it shares with a neighbour. A number is not divided. */
export function sharedLength(name: string, neighbours: readonly (string | undefined)[]): number {
  const lengths = neighbours.map((other) => {
    let length = 0;
    while (length < name.length && name[length] === other?.[length]) length++;
    return length;
  });
  const prefix = name.slice(0, Math.max(0, ...lengths)).replace(/\d+$/, '');
  // Equal names differ in nothing: then the whole name counts.
  return prefix.length === name.length ? 0 : prefix.length;
}
