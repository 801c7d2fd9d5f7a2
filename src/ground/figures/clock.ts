/** Times of day and lengths of time as text. Times are milliseconds since the epoch, and are shown in local time. Pure. */
import { withUnit } from './figure.js';

export const DAY_MS = 86_400_000;
const SPANS: readonly [unit: string, ms: number][] = [
  ['d', DAY_MS],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** `08:12:31` */
export function timeOfDay(ms: number): string {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

/** `2026-11-21 08:12:31` */
export function dateAndTime(ms: number): string {
  const date = new Date(ms);
  return `${[date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join('-')} ${timeOfDay(ms)}`;
}

/** The time of day; with its date if it is more than a day ago. */
export function momentText(ms: number, nowMs: number): string {
  return (nowMs - ms < DAY_MS ? timeOfDay : dateAndTime)(ms);
}

/** Milliseconds in the largest unit that fits: `12 s`, `5 min`, `3 h`, `2 d`. A negative span counts as 0. */
export function spanText(ms: number, round: (value: number) => number = Math.floor): string {
  const [unit, unitMs] = SPANS.find(([, size]) => ms >= size) ?? SPANS.at(-1)!;
  return withUnit(String(round(Math.max(0, ms) / unitMs)), unit);
}

/** Milliseconds of a setting or limit, exactly: `100 ms`, `1.5 s`. */
export function intervalText(ms: number): string {
  return ms < 1000 ? withUnit(String(ms), 'ms') : withUnit(String(ms / 1000), 's');
}

/** Time zone of this process or browser: `UTC`, `GMT+1`. */
export function timeZone(): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(new Date());
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
