/** A percentile in words. */
import { duration } from '../../figures/numbers.js';

/** What lies above the last bound of its histogram is only known to do so. */
export function percentileText(us: number, boundsUs: readonly number[]): string {
  const last = boundsUs.at(-1);
  return last !== undefined && us >= last ? `≥ ${duration(last)}` : duration(us);
}
