/** Selection of agents by name and state, and their order. Pure. */
import { nameFilter } from '../name-filter.js';
import { columnsFor, sorted, type SortKey } from './columns.js';
import type { Row } from './tracker.js';

export interface Selection {
  readonly sort: SortKey;
  readonly reverse: boolean;
  /** Part of a name, with `?` for any character; with `*` a glob of the whole name. */
  readonly filter: string;
  /** Includes old files. */
  readonly all: boolean;
  /** Shows and sorts totals in place of rates. */
  readonly totals: boolean;
}

/** Returns the rows that the selection has, in its order. */
export function shown(rows: readonly Row[], selection: Selection): Row[] {
  return sorted(selected(rows, selection), selection.sort, selection.reverse, columnsFor(selection.totals));
}

/** Returns the rows that the selection has. */
export function selected(rows: readonly Row[], { filter, all }: Pick<Selection, 'filter' | 'all'>): Row[] {
  const matches = nameFilter(filter);
  return rows.filter((row) => (all || !row.totals.unused) && matches(nameOf(row)));
}

/** Name of an agent, with its directory and host where several agents may have that name. */
export function nameOf(row: Row): string {
  const { host } = row.totals;
  return host === undefined ? nameAtHost(row) : `${nameAtHost(row)} ${host}`;
}

/** The same without the host. */
export function nameAtHost({ totals: { agent, place } }: Row): string {
  return place === undefined ? agent : `${agent} ${place}`;
}
