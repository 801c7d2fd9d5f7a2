/** Numbers for people. Pure, and without imports: the live page has it too. */

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB'] as const;

/** In powers of 1000: `0 B`, `999 B`, `1.2 kB`, `412 MB`. */
export function bytes(value: number): string {
  const [scaled, unit] = inThousands(value, BYTE_UNITS);
  return `${amount(scaled)} ${unit}`;
}

/** A number below 1000 and the unit that it is of, each a thousand times the one before; of the last there may be more. */
export function inThousands(value: number, units: readonly string[]): [number, string] {
  let scaled = value;
  let unit = 0;
  // 999.6 would be printed as 1000 of its unit.
  while (Math.round(scaled) >= 1000 && unit < units.length - 1) {
    scaled /= 1000;
    unit++;
  }
  return [scaled, units[unit]!];
}

const BINARY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** In powers of 1024, for bounds that are powers of two: `64 KiB`. */
export function binaryBytes(value: number): string {
  let scaled = value;
  let unit = 0;
  for (; scaled >= 1024 && unit < BINARY_UNITS.length - 1; unit++) scaled /= 1024;
  return `${amount(scaled)} ${BINARY_UNITS[unit]!}`;
}

/** Two digits below 10, whole numbers with separators above; something is never shown as 0. */
export function amount(value: number): string {
  if (value > 0 && value < 0.1) return '<0.1';
  const digits = value < 9.95 ? 1 : 0;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** As `amount` up to ten million, then short: `12.3M`, `4.5B`; `5.9e18` where nobody has a word for it. */
export function count(value: number): string {
  if (value < 1e7) return amount(value);
  if (value >= 1e15) return value.toExponential(1).replace('+', '');
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 });
}

/** Microseconds: `840 us`, `2.1 ms`, `1.5 s`. */
export function duration(us: number): string {
  if (us < 999.5) return `${amount(us)} us`;
  return us < 999_500 ? `${amount(us / 1e3)} ms` : `${amount(us / 1e6)} s`;
}

/** `42%`; some is never shown as none, and not quite all never as all. */
export function percent(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  if (share < 1 && share > 0.99) return '>99%';
  return `${Math.round(share * 100)}%`;
}
