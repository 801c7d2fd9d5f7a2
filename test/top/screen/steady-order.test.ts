import { describe, expect, it } from 'vitest';
import { type Sorting, SteadyOrder } from '../../../src/top/screen/steady-order.js';
import type { TopRow } from '../../../src/top/tracker.js';
import { sample, totals, viewOf } from '../samples.js';

const BY_TX: Sorting = { sort: 'tx', reverse: false, totals: false, problemsFirst: false };

/** Rows with these rates of tx by name. */
function rows(rates: Readonly<Record<string, number>>): readonly TopRow[] {
  const at = (second: number) =>
    sample(
      second * 1_000,
      Object.entries(rates).map(([name, rate]) => totals(name, { txBytes: rate * second })),
    );
  return viewOf(at(0), at(1)).rows;
}

const names = (sorted: readonly TopRow[]): string => sorted.map((row) => row.agent.agent).join(' ');
const noProblem = (): number => 0;

describe('the order', () => {
  it('follows a lasting change within seconds, and not a short one', () => {
    const order = new SteadyOrder();
    const at = (second: number, rates: Readonly<Record<string, number>>, by = BY_TX): string =>
      names(order.sorted(rows(rates), by, noProblem, second * 1_000, false));
    expect(at(0, { a: 100, b: 90 })).toBe('a b');
    expect(at(1, { a: 80, b: 110 })).toBe('a b');
    expect(at(2, { a: 100, b: 90 })).toBe('a b');
    expect([3, 4, 5, 6, 7].map((second) => at(second, { a: 80, b: 110 })).at(-1)).toBe('b a');
    expect(at(7, { a: 80, b: 110 }, { ...BY_TX, reverse: true })).toBe('a b');
  });

  it('does not change with a second frame of the same numbers', () => {
    const order = new SteadyOrder();
    order.sorted(rows({ a: 100, b: 90 }), BY_TX, noProblem, 0, false);
    for (let i = 0; i < 50; i++) {
      expect(names(order.sorted(rows({ a: 1, b: 90 }), BY_TX, noProblem, 0, false))).toBe('a b');
    }
  });

  it('begins with the numbers of now after another column was chosen', () => {
    const order = new SteadyOrder();
    order.sorted(rows({ a: 100, b: 90 }), BY_TX, noProblem, 0, false);
    order.sorted(rows({ a: 100, b: 90 }), { ...BY_TX, sort: 'agent' }, noProblem, 1_000, false);
    expect(names(order.sorted(rows({ a: 1, b: 90 }), BY_TX, noProblem, 1_100, false))).toBe('b a');
  });

  it('holds still while it is frozen; new agents stand at the end', () => {
    const order = new SteadyOrder();
    order.sorted(rows({ a: 100, b: 90, c: 80 }), BY_TX, noProblem, 0, false);
    const frozen = order.sorted(rows({ a: 1, new: 1_000, c: 500 }), BY_TX, noProblem, 60_000, true);
    expect(names(frozen)).toBe('a c new');
    expect(names(order.sorted(rows({ a: 1, new: 1_000, c: 500 }), BY_TX, noProblem, 120_000, false))).toBe('new c a');
  });

  it('follows a new column while it is frozen', () => {
    const order = new SteadyOrder();
    order.sorted(rows({ b: 100, a: 90 }), BY_TX, noProblem, 0, false);
    const byName = { ...BY_TX, sort: 'agent' as const };
    expect(names(order.sorted(rows({ b: 100, a: 90 }), byName, noProblem, 1_000, true))).toBe('a b');
  });

  it('has problems first, and names by number', () => {
    const order = new SteadyOrder();
    const given = rows({ 'tp-10': 5, 'tp-2': 5, 'tp-1': 5, 'tp-3': 5 });
    const weight = ({ agent: { agent } }: TopRow): number => ({ 'tp-10': -2, 'tp-3': -1 })[agent] ?? 0;
    const byName = { ...BY_TX, sort: 'agent' as const };
    expect(names(order.sorted(given, { ...byName, problemsFirst: true }, weight, 0, false))).toBe(
      'tp-10 tp-3 tp-1 tp-2',
    );
    expect(names(order.sorted(given, byName, weight, 0, false))).toBe('tp-1 tp-2 tp-3 tp-10');
  });

  it('has those of a weight above 0 last in every order', () => {
    const order = new SteadyOrder();
    const given = rows({ a: 9, b: 5, c: 7 });
    const weight = ({ agent: { agent } }: TopRow): number => ({ a: 1, b: -1 })[agent] ?? 0;
    expect(names(order.sorted(given, BY_TX, weight, 0, false))).toBe('c b a');
    expect(names(order.sorted(given, { ...BY_TX, problemsFirst: true }, weight, 0, false))).toBe('b c a');
  });
});
