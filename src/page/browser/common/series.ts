/** Arithmetic on columns of a history. Pure. */
import type { Column } from '../../../view/answers/history-answer.js';

/** Returns the largest known value, at least 0. */
export function highest(column: Column): number {
  return column.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}

/** Returns the sum of two columns; unknown where either is. */
export function added(a: Column, b: Column): Column {
  return a.map((value, i) => (value === null || (b[i] ?? null) === null ? null : value + b[i]!));
}
