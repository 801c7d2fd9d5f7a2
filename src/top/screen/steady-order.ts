/** Order of rows that can be read while numbers change: sort keys are smoothed, and the order can be frozen. */
import { columnsFor, compareNames, orderBy } from '../columns.js';
import type { Selection } from '../selection.js';
import type { TopRow } from '../tracker.js';

/** Time constant of the smoothed keys. */
const SMOOTHING_MS = 5_000;

export interface Sorting extends Pick<Selection, 'sort' | 'reverse' | 'totals'> {
  readonly problemsFirst: boolean;
}

interface Key {
  value: number;
  takenMs: number;
}

export class SteadyOrder {
  #keys = new Map<string, Key>();
  #sorting = '';
  #places: ReadonlyMap<string, number> = new Map();

  /**
   * Sorts rows of a view of this time. `weightOf`: those below 0 stand first where problems do, those above 0 last. With `isFrozen`, rows keep
   * their places, and new ones follow.
   */
  sorted(
    rows: readonly TopRow[],
    sorting: Sorting,
    weightOf: (row: TopRow) => number,
    takenMs: number,
    isFrozen: boolean,
  ): TopRow[] {
    const { sort, reverse, totals, problemsFirst } = sorting;
    const name = JSON.stringify([sort, reverse, totals, problemsFirst]);
    const isSame = name === this.#sorting;
    if (!isSame) this.#keys = new Map();
    this.#sorting = name;
    this.#smooth(rows, orderBy(sort, columnsFor(totals)), takenMs);
    const sign = reverse ? -1 : 1;
    const keyOf = ({ agent: { id } }: TopRow): number => this.#keys.get(id)!.value;
    const placeOf = ({ agent: { id } }: TopRow): number => this.#places.get(id) ?? Infinity;
    const weight = (row: TopRow): number => (problemsFirst ? weightOf(row) : Math.max(0, weightOf(row)));
    const keepsPlaces = isFrozen && isSame;
    const inOrder = rows.toSorted((a, b) => {
      const [left, right] = [placeOf(a), placeOf(b)];
      if (keepsPlaces && left !== right) return left - right;
      const byWeight = weight(a) - weight(b);
      return byWeight || sign * (keyOf(b) - keyOf(a)) || sign * compareNames(a, b);
    });
    this.#places = new Map(inOrder.map(({ agent: { id } }, place) => [id, place]));
    return inOrder;
  }

  #smooth(rows: readonly TopRow[], orderOf: (row: TopRow) => number, takenMs: number): void {
    const before = this.#keys;
    this.#keys = new Map();
    for (const row of rows) {
      const now = orderOf(row);
      const key = before.get(row.agent.id);
      const share = key === undefined ? 1 : 1 - Math.exp(-Math.max(0, takenMs - key.takenMs) / SMOOTHING_MS);
      // A frame may be drawn again without new numbers: the share is then 0.
      this.#keys.set(row.agent.id, {
        value: key === undefined ? now : key.value + share * (now - key.value),
        takenMs,
      });
    }
  }
}
