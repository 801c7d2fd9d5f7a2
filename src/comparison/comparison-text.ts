/** A comparison as lines of at most 80 columns, and as an object for JSON. Pure. */
import { bytesRateText, ifKnown, numberText, plural, stepText, timeText } from '../ground/figures/figure.js';
import { table } from '../view/figures/table.js';
import { boundOf } from '../view/sizes/direction-sizes.js';
import { sizeClassText } from '../view/sizes/size-words.js';
import { calledMultiple, type ClassComparison } from './comparison.js';
import type { Multiple } from './side-figure.js';

/** `tx 4 KiB` */
export function classText({ direction, upToBytes }: Pick<ClassComparison, 'direction' | 'upToBytes'>): string {
  return `${direction} ${sizeClassText(boundOf(upToBytes))}`;
}

/** `1.52 times as long (1.41 to 1.66)`, `no difference that 240 transfers could show` */
export function verdictText(one: ClassComparison): string {
  const { verdict, a, b } = one;
  if (a === undefined || b === undefined) return `only in ${a === undefined ? 'B' : 'A'}`;
  const transfers = plural(Math.min(a.transfers, b.transfers), 'transfer');
  if (verdict === 'few') return `too few to tell: ${transfers}`;
  if (verdict === 'alike') return `no difference that ${transfers} could show`;
  return `${multipleText(calledMultiple(one)!, 'long')}${one.by === 'p25' ? ', by p25' : ''}`;
}

/** `1.52 times as long (1.41 to 1.66)`, `1.52 times as long (at least 1.41)` */
function multipleText({ multiple, low, high }: Multiple, what: 'long' | 'fast'): string {
  const range =
    high === Infinity
      ? low === 0
        ? 'or any other'
        : `at least ${hundredths(low)}`
      : low === 0
        ? `at most ${hundredths(high)}`
        : `${hundredths(low)} to ${hundredths(high)}`;
  return `${hundredths(multiple)} times as ${what} (${range})`;
}

function hundredths(multiple: number): string {
  return multiple < 99.995 ? stepText(multiple, 0.01) : numberText(multiple);
}

export function timeTable(classes: readonly ClassComparison[]): string {
  return table(
    ['MEDIAN TIME', 'A', 'B', 'B TAKES'],
    classes.map((one) => [
      classText(one),
      ifKnown(one.a?.p50Us, timeText),
      ifKnown(one.b?.p50Us, timeText),
      verdictText(one),
    ]),
  );
}

/** Empty if no class has a rate on both sides. */
export function rateTable(classes: readonly ClassComparison[]): string {
  const rows = classes.flatMap((one) => {
    const { a, b, rate } = one;
    if (rate === undefined) return [];
    return [
      [classText(one), bytesRateText(a!.bytesPerSecond), bytesRateText(b!.bytesPerSecond), multipleText(rate, 'fast')],
    ];
  });
  return rows.length === 0 ? '' : table(['RATE IN A TRANSFER', 'A', 'B', 'B IS'], rows);
}

/** Classes of b that surely take longer, and more than `bound` times as long. */
export function classesAbove(classes: readonly ClassComparison[], bound: number): readonly ClassComparison[] {
  return classes.filter((one) => one.verdict === 'slower' && calledMultiple(one)!.multiple > bound);
}

/** JSON has no infinity. */
export function comparisonObject(one: ClassComparison): object {
  const multiples = (['p50', 'p25', 'rate'] as const).flatMap((name) => {
    const multiple = one[name];
    return multiple === undefined ? [] : [[name, finite(multiple)] as const];
  });
  return { ...one, ...Object.fromEntries(multiples) };
}

function finite({ multiple, low, high }: Multiple): object {
  return { multiple, low, high: high === Infinity ? null : high };
}

/** Highest factor that could hide in the classes without a difference; undefined without such classes. */
export function mostHidden(classes: readonly ClassComparison[]): number | undefined {
  const hidden = classes.flatMap(({ verdict, p50 }) => (verdict === 'alike' ? [p50!.high, 1 / p50!.low] : []));
  return hidden.length === 0 ? undefined : Math.max(...hidden);
}

/** What to do for smaller differences; undefined where no class needs it. */
export function hiddenText(classes: readonly ClassComparison[], turns: number): string | undefined {
  const most = mostHidden(classes);
  if (most === undefined) return undefined;
  const more = turns < 3 ? 'several runs of each, in turn (A, B, A, B...)' : 'more or longer runs';
  return `A difference of up to ${hundredths(most)} times could hide.\nSmaller ones need ${more}.`;
}
