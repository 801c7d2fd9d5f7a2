/** Parts of sentences that several findings use. Pure. */
import { dateAndTime, timeOfDay } from '../figures/formats.js';
import { counted } from '../figures/figure.js';

const DAY_MS = 86_400_000;

/** Local time; with its date if it is more than a day ago. */
export function clock(timeMs: number, nowMs: number): string {
  return (nowMs - timeMs < DAY_MS ? timeOfDay : dateAndTime)(new Date(timeMs));
}

/** `once`, `214 times` */
export function times(count: number): string {
  return count === 1 ? 'once' : counted(count, 'time');
}

/** `a`, `a and b`, `a, b and 3 more` */
export function listed(names: readonly string[], most = 2): string {
  const shown = names.slice(0, most);
  const left = names.length - shown.length;
  if (left > 0) return `${shown.join(', ')} and ${left} more`;
  return shown.length <= 1 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)!}`;
}
