/** The span of time that the charts show, and what is known of the figures in it. Pure. */
import type { Column } from '../../../view/answers/history-answer.js';
import { beside, hatch, type Layer, ribbon, vertical, wash } from './layers.js';
import { drawCross, drawRestart } from './signs.js';
import type { MarkedTime } from './too-low.js';
import { timeOfDay } from '../../../ground/figures/clock.js';

/** Times in seconds since the epoch. */
export interface Window {
  readonly from: number;
  readonly to: number;
  /** Nothing is known from this time on: there is no newer answer. */
  readonly unknownFrom?: number;
  /** Times without a serve, and announced maintenance. */
  readonly blind: readonly MarkedTime[];
  readonly maintenance: readonly MarkedTime[];
  /** The numbers of these times are too low. */
  readonly tooLow: readonly MarkedTime[];
  /** Times of what was found, apart from ends of agents. */
  readonly incidents: readonly { readonly range: MarkedTime; readonly colour: string }[];
  /** Ends of agents that were transferring, and restarts. */
  readonly ends: readonly number[];
  readonly restarts: readonly number[];
}

/** Points of a history in a window, with one more on either side, so that lines reach the edges. */
export class WindowPoints {
  readonly times: readonly number[];
  /** What all pictures of these points have. */
  readonly picture: Window & { readonly times: readonly number[]; readonly layers: readonly Layer[] };
  readonly #first: number;
  readonly #end: number;

  constructor(timesMs: readonly number[], window: Window) {
    const { from, to } = window;
    const inside = timesMs.findIndex((time) => time >= from * 1000);
    const beyond = timesMs.findIndex((time) => time > to * 1000);
    this.#first = inside === -1 ? timesMs.length : Math.max(0, inside - 1);
    this.#end = beyond === -1 ? timesMs.length : beyond + 1;
    this.times = timesMs.slice(this.#first, this.#end).map((ms) => ms / 1000);
    this.picture = { ...window, times: this.times, layers: markLayers(window) };
  }

  of(column: Column): Column {
    return column.slice(this.#first, this.#end);
  }
}

/**
 * Returns the layers of every chart over time: what is unknown, announced and too low, what was found, restarts and ends of agents.
 */
function markLayers({ to, unknownFrom, blind, maintenance, tooLow, incidents, ends, restarts }: Window): Layer[] {
  return [
    ...maintenance.flatMap(([low, high]) => [wash(low, high, 'mem'), vertical(low, 'mem')]),
    ...(unknownFrom === undefined ? [] : [hatch(unknownFrom, to, 'idle')]),
    ...blind.flatMap(([low, high]) => [hatch(low, high, 'idle'), vertical(high, 'idle', drawRestart)]),
    ...tooLow.flatMap(([low, high]) => [hatch(low, high, 'warn-mark'), vertical(low, 'warn')]),
    ...incidents.map(({ range, colour }) => ribbon(range, colour)),
    ...restarts.map((time) => vertical(time, 'idle', drawRestart)),
    ...ends.map((time) => vertical(time, 'bad', drawCross)),
  ];
}

const overlaps =
  ({ from, to }: Window) =>
  ([low, high]: MarkedTime): boolean =>
    low < to && high > from;

/** Returns false if something may be missing in the figures. */
export function isComplete(window: Window): boolean {
  return window.unknownFrom === undefined && ![...window.blind, ...window.tooLow].some(overlaps(window));
}

/** Returns the notes of a chart: when its numbers were too low the last time, the last maintenance and restart of serve. */
export function markNotes(window: Window): Layer[] {
  const { blind, maintenance, tooLow } = window;
  const [low, planned, gap] = [tooLow, maintenance, blind].map((times) => times.findLast(overlaps(window)));
  const clock = (time: number): string => timeOfDay(time * 1000);
  const notes: ((row: number) => Layer)[] = [];
  if (low !== undefined) notes.push((row) => beside(low[0], 'warn', `too low from ${clock(low[0])}`, row));
  if (planned !== undefined) notes.push((row) => beside(planned[0], 'mem', 'maintenance', row));
  if (gap !== undefined) notes.push((row) => beside(gap[1], 'soft', `serve began ${clock(gap[1])}`, row));
  return notes.map((note, row) => note(row));
}
