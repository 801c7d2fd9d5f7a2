/** Times of day: one format on the whole page. Pure. */
import { timeOfDay } from '../../figures/formats.js';

/** `14:32:07`. `ms`: since the epoch. */
export function clock(ms: number): string {
  return timeOfDay(new Date(ms));
}

/** `14:32` */
export function hourAndMinute(ms: number): string {
  return clock(ms).slice(0, 5);
}

const DAY_MS = 86_400_000;

/** `14:32` within a day, then the date: `20 Nov`. */
export function since(ms: number, nowMs: number): string {
  if (nowMs - ms < DAY_MS) return hourAndMinute(ms);
  return new Date(ms).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

/** Time zone of the browser: `UTC`, `GMT+1`. */
export function zone(): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(new Date());
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** Longer spans have ticks of whole minutes. */
const SECONDS_UP_TO_S = 180;
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

/** Returns at most this many round times in the span, seconds since the epoch. */
export function timeTicks(from: number, to: number, most: number): number[] {
  const least = to - from > SECONDS_UP_TO_S ? 60 : 1;
  const step = STEPS_S.find((one) => one >= least && (to - from) / one <= most) ?? STEPS_S.at(-1)!;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}

/** Returns the texts of ticks: with seconds if any tick needs them. */
export function clockOfAxis(ticks: readonly number[]): string[] {
  const text = ticks.every((at) => at % 60 === 0) ? hourAndMinute : clock;
  return ticks.map((at) => text(at * 1000));
}

/** `12 s`, `4 min`, `6 h 17 min`, `3 d 2 h` */
export function length(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return `${minutes} min`;
  if (days === 0) return `${hours} h ${minutes % 60} min`;
  return `${days} d ${hours % 24} h`;
}
