/** Columns of text. Pure. */

/** The first and the last column are set left, numbers between them right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  // Not as arguments of one Math.max(): a hundred thousand of them are more than the stack holds.
  const widths = headings.map((_, i) => all.reduce((most, row) => Math.max(most, row[i]!.length), 0));
  return all
    .map((row) =>
      row
        .map((text, i) => {
          if (i === row.length - 1) return text;
          return i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!);
        })
        .join('  '),
    )
    .join('\n');
}

const STEPS: readonly [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** `3d`, `5h`, `12m`, `8s`: the largest unit that fits. */
export function ageText(ms: number): string {
  const [unit, step] = STEPS.find(([, size]) => ms >= size) ?? STEPS.at(-1)!;
  return `${Math.floor(ms / step)}${unit}`;
}
