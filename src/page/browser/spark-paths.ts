/** Paths of small lines without axes. Pure. */
import { coordinate } from '../../ground/figures/figure.js';
import type { Column } from '../../view/answers/history-answer.js';

/** Height of the drawing, in its own unit. */
export const HEIGHT = 100;
/** The line keeps this much of the height free above it, so that it is not cut. */
const HEADROOM = 0.08;

/** Points of a sparkline. Times in milliseconds. */
export interface Spark {
  readonly times: readonly number[];
  readonly values: Column;
  readonly from: number;
  readonly to: number;
  /** Value at the upper edge. */
  readonly top: number;
}

/** A pixel or two for each point: more of them make a line thick. */
const MOST_POINTS = 150;

/** Returns means of neighbours, so that there are not too many points. A mean with a gap is a gap. */
export function thinned(times: readonly number[], values: Column): Pick<Spark, 'times' | 'values'> {
  const width = Math.ceil(times.length / MOST_POINTS);
  if (width <= 1) return { times, values };
  const means: (number | null)[] = [];
  const ends: number[] = [];
  // Groups end with the newest point, which must be seen at once.
  for (let end = times.length % width || width; end <= times.length; end += width) {
    const group = values.slice(Math.max(0, end - width), end);
    const known = group.filter((value) => value !== null);
    means.push(known.length < group.length ? null : known.reduce((sum, value) => sum + value, 0) / known.length);
    ends.push(times[end - 1]!);
  }
  return { times: ends, values: means };
}

/** Returns the place of a value, from 0 at the upper edge to HEIGHT at the lower one. */
export function heightOf(value: number, top: number): number {
  return HEIGHT * (1 - (1 - HEADROOM) * Math.min(1, value / top));
}

/** Returns the paths of the line and of the area below it. A gap divides both. */
export function pathsOf({ times, values, from, to, top }: Spark): { line: string; area: string } {
  const x = (i: number): number => Math.round(times[i]! - from);
  const y = (value: number): string => coordinate(heightOf(value, top));
  let [line, area] = ['', ''];
  let start: number | undefined;
  const close = (): void => {
    if (start !== undefined) area += `V${HEIGHT}H${x(start)}Z`;
    start = undefined;
  };
  for (let i = 0; i < times.length; i++) {
    const value = values[i] ?? null;
    if (value === null || times[i]! < from || times[i]! > to) {
      close();
      continue;
    }
    const place = `${x(i)} ${y(value)}`;
    line += (start === undefined ? 'M' : 'L') + place;
    area += start === undefined ? `M${x(i)} ${HEIGHT}L${place}` : `L${place}`;
    start ??= i;
  }
  close();
  return { line, area };
}
