/** Numbers and times as text for people. Pure, and without imports: the live page uses this module, too. */

/** Formats a value if it is known. */
export function ifKnown<T>(value: T | null | undefined, format: (value: T) => string, unknown = '-'): string {
  return value === null || value === undefined ? unknown : format(value);
}

/** Two digits below 10, whole numbers with separators above: `0.4`, `9.9`, `12`, `2,500,000`. Only 0 is shown as 0. */
export function amount(value: number): string {
  return isTiny(value) ? '<0.1' : rounded(value).toLocaleString('en-US');
}

/** Works like amount() up to ten million, then shortens: `12.3M`, `4.5B`, and from 10^15 on `5.9e18`. */
export function count(value: number): string {
  if (value < 1e7) return amount(value);
  if (value >= 1e15) return value.toExponential(1).replace('+', '');
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 });
}

/** At most five characters: `0`, `0.4`, `12`, `1.2k`, `412M`. Only 0 is shown as 0. */
export function short(value: number): string {
  return isTiny(value) ? '<0.1' : inShortUnits(value);
}

const inShortUnits = withUnit(['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z'], joined);

/** Powers of 1000. */
export const BYTE_UNITS: readonly string[] = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB'];
const TIME_UNITS = ['us', 'ms', 's'];

/** In powers of 1000: `0 B`, `999 B`, `1.2 kB`, `412 MB`. */
export const bytes = withUnit(BYTE_UNITS, spaced);
/** Three digits: `3 B`, `1.07 MB`, `412 MB`. */
export const preciseBytes = withUnit(BYTE_UNITS, withThreeDigits);
/** In powers of 1024, for bounds that are powers of two: `64 KiB`. */
export const binaryBytes = withUnit(['B', 'KiB', 'MiB', 'GiB', 'TiB'], spaced, 1024);
/** Microseconds: `840 us`, `1.07 ms`, `41.2 s`. Two digits might be off by a twentieth. */
export const duration = withUnit(TIME_UNITS, withThreeDigits);
/** Microseconds, for narrow columns: `12us`, `1.07ms`. */
export const shortDuration = withUnit(TIME_UNITS, (value, unit) => `${threeDigits(value)}${unit}`);

/** `12 B/s` */
export function perSecond(format: (value: number) => string): (value: number) => string {
  return (value) => `${format(value)}/s`;
}

/** `42%`. Only 0 is shown as 0%, and only 1 as 100%. */
export function percent(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  if (share < 1 && share > 0.99) return '>99%';
  return `${Math.round(share * 100)}%`;
}

const AGE_UNITS: readonly [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** Milliseconds in the largest unit that fits: `3d`, `5h`, `12m`, `8s`. */
export function age(ms: number): string {
  const [unit, unitMs] = AGE_UNITS.find(([, size]) => ms >= size) ?? AGE_UNITS.at(-1)!;
  return `${Math.floor(ms / unitMs)}${unit}`;
}

/** Local time: `08:12:31`. */
export function timeOfDay(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

/** Local time: `2026-11-21 08:12:31`. */
export function dateAndTime(date: Date): string {
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join('-');
  return `${day} ${timeOfDay(date)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Divides by `step` per unit until the number is below it. Only the last unit has larger numbers. */
function withUnit(units: readonly string[], text: (value: number, unit: string) => string, step = 1000) {
  return (value: number): string => {
    let scaled = value;
    let unit = 0;
    // 999.6 would be printed as 1000 of its unit.
    for (; Math.round(scaled) >= step && unit < units.length - 1; unit++) scaled /= step;
    return text(scaled, units[unit]!);
  };
}

function spaced(value: number, unit: string): string {
  return `${count(value)} ${unit}`;
}

function withThreeDigits(value: number, unit: string): string {
  return `${threeDigits(value)} ${unit}`;
}

function threeDigits(value: number): string {
  return value < 1000 ? String(Number(value.toPrecision(3))) : count(value);
}

function joined(value: number, unit: string): string {
  return `${rounded(value)}${unit}`;
}

/** Returns true if a value is too small to be shown with one digit behind the point. */
function isTiny(value: number): boolean {
  return value > 0 && value < 0.1;
}

/** Rounds half up: to one digit behind the point below 10, to none above. */
function rounded(value: number): number {
  return value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value);
}
