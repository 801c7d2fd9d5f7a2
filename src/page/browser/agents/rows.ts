/** Rows of the table of agents, as data: figures, state, order and filter. Pure. */
import type { AgentColumns, Column } from '../../../view/answers/history-answer.js';
import type { Interval } from '../../../view/figures/rates.js';
import { type AgentState, labelOfAgent, type ServedAgent } from '../../../view/model/agent-model.js';
import { type AgentRow, ratesOf } from '../../../view/model/rows.js';
import type { StateOfAgent } from '../../../view/verdict/types.js';
import { added } from '../common/series.js';

/** Times are those of the last ten seconds. */
export interface TableRow extends AgentRow<ServedAgent> {
  readonly state: AgentState;
  /** Bytes per second in both directions, at the times of the agents' history. */
  readonly moved: Column;
}

const NONE: Column = [];
/** Most answers have no new points of agents: the columns of the former ones stay. */
const sums = new WeakMap<AgentColumns, Column>();

function movedIn(columns: AgentColumns): Column {
  const known = sums.get(columns) ?? added(columns.tx, columns.rx);
  sums.set(columns, known);
  return known;
}

export function rowsOf(
  agents: readonly ServedAgent[],
  interval: Interval<ServedAgent>,
  states: ReadonlyMap<number | string, StateOfAgent>,
  history: ReadonlyMap<number, AgentColumns>,
): TableRow[] {
  return agents.map((agent) => {
    const columns = history.get(agent.id);
    return {
      agent,
      state: states.get(agent.id)?.state ?? (agent.life === 'alive' ? 'live' : 'unknown'),
      ...ratesOf(interval, [agent]),
      transferTimeUs: agent.recentTransferTimeUs,
      postTimeUs: agent.recentPostTimeUs,
      moved: columns === undefined ? NONE : movedIn(columns),
    };
  });
}

export interface Filter {
  readonly query: string;
  readonly states: readonly AgentState[];
}

/** Keeps rows whose names, or those of their engines, contain the query, in any case of letters, and that are in one of the states. */
export function filtered(rows: readonly TableRow[], { query, states }: Filter): TableRow[] {
  const text = query.trim().toLowerCase();
  return rows.filter(
    ({ agent, state }) =>
      (states.length === 0 || states.includes(state)) &&
      [agent.name, labelOfAgent(agent)].some((name) => name.toLowerCase().includes(text)),
  );
}

const collator = new Intl.Collator('en', { numeric: true });
/** Names for people by their numbers, tp2 before tp10: ranks of an instance stand together. */
export function byName(a: TableRow, b: TableRow): number {
  return collator.compare(labelOfAgent(a.agent), labelOfAgent(b.agent)) || a.agent.id - b.agent.id;
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
