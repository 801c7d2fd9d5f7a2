/** View that the reader chose. The address of the page holds it, so that a link shows the same. Pure. */
import { STATES } from '../../view/verdict/shapes.js';
import type { AgentState } from '../../view/model/agent-model.js';

export const SPANS_S = [60, 300, 600] as const;
const USUAL_SPAN_S = 300;
/** Problems first, then names by their numbers. */
export const USUAL_SORT = 'problems';

/** What the cells of time by size show: a multiple of the peers or of the agent before, or the class itself. */
export const CELL_MEASURES = ['peers', 'earlier', 'time', 'rate'] as const;
export type CellMeasure = (typeof CELL_MEASURES)[number];
const SIZE_DIRECTIONS = ['tx', 'rx'] as const;
export type SizeDirection = (typeof SIZE_DIRECTIONS)[number];

export interface ViewState {
  /** Name of the agent in the panel. */
  readonly agent?: string;
  readonly spanS: number;
  /** Seconds since the epoch. */
  readonly zoom?: readonly [from: number, to: number];
  readonly query: string;
  /** States of the agents in the table; empty for all. */
  readonly states: readonly AgentState[];
  /** Column of the table, after a - for the highest first. */
  readonly sort: string;
  /** The throughput is that of the five agents that move the most. */
  readonly showsTop: boolean;
  /** Of time by size; absent for the usual ones. */
  readonly measure?: CellMeasure;
  readonly direction?: SizeDirection;
}

/** Returns the view of an address. A value that is not allowed counts as absent: the page then writes the address anew. */
export function viewOf(hash: string, sorts: readonly string[]): ViewState {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  const spanS = Number(values.get('span'));
  const [from, to] = [Number(values.get('from')), Number(values.get('to'))];
  const sort = values.get('sort') ?? '';
  const agent = values.get('agent');
  const measure = CELL_MEASURES.find((known) => known === values.get('measure'));
  const direction = SIZE_DIRECTIONS.find((known) => known === values.get('direction'));
  const states = (values.get('state') ?? '').split(',').filter((state) => state in STATES);
  return {
    ...(agent === null || agent === '' ? {} : { agent }),
    spanS: SPANS_S.some((allowed) => allowed === spanS) ? spanS : USUAL_SPAN_S,
    ...(from > 0 && to > from ? { zoom: [from, to] } : {}),
    query: values.get('q') ?? '',
    states: states as AgentState[],
    sort: sorts.includes(sort.replace(/^-/, '')) ? sort : USUAL_SORT,
    showsTop: values.get('top') === '5',
    ...(measure === undefined ? {} : { measure }),
    ...(direction === undefined ? {} : { direction }),
  };
}

/** Returns the address of a view: what is usual is left out. */
export function hashOf({ agent, spanS, zoom, query, states, sort, showsTop, measure, direction }: ViewState): string {
  const values = new URLSearchParams();
  if (agent !== undefined) values.set('agent', agent);
  if (spanS !== USUAL_SPAN_S) values.set('span', String(spanS));
  if (zoom !== undefined) {
    values.set('from', zoom[0].toFixed(1));
    values.set('to', zoom[1].toFixed(1));
  }
  if (query !== '') values.set('q', query);
  if (states.length > 0) values.set('state', states.join());
  if (sort !== USUAL_SORT) values.set('sort', sort);
  if (showsTop) values.set('top', '5');
  if (measure !== undefined) values.set('measure', measure);
  if (direction !== undefined) values.set('direction', direction);
  const text = values.toString();
  return text === '' ? '' : `#${text}`;
}
