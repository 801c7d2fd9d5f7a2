/** Selection of agents by name and state, and their order. Pure. */
import { nameFilter } from '../view/rings/name-filter.js';
import { columnsFor, sorted } from './columns.js';
import type { TopRow } from './tracker.js';

export interface Selection {
  readonly sort: string;
  readonly reverse: boolean;
  /** Part of a name, with `?` for any character; with `*` a glob of the whole name. */
  readonly filter: string;
  /** Includes old files. */
  readonly all: boolean;
  /** Shows and sorts totals in place of rates. */
  readonly totals: boolean;
}

/** Returns the rows that the selection has, in its order. */
export function shownRows(rows: readonly TopRow[], selection: Selection): TopRow[] {
  return sorted(selected(rows, selection), selection.sort, selection.reverse, columnsFor(selection.totals));
}

export function selected(rows: readonly TopRow[], { filter, all }: Pick<Selection, 'filter' | 'all'>): TopRow[] {
  const matches = nameFilter(filter);
  return rows.filter((row) => (all || !row.agent.unused) && (matches(fullNameOf(row)) || matches(row.agent.agent)));
}

/** Name of an agent for people, with its directory and host where several agents may have that name. */
export function fullNameOf(row: Pick<TopRow, 'agent'>): string {
  const { host } = row.agent;
  return host === undefined ? nameAtHost(row) : `${nameAtHost(row)} ${host}`;
}

/** The same without the host. */
export function nameAtHost({ agent: { agent, place, engine } }: Pick<TopRow, 'agent'>): string {
  if (engine?.label !== undefined) return engine.label;
  return place === undefined ? agent : `${agent} ${place}`;
}
