/** When rows may come and go. */
import { byId } from './common/dom.js';

/** Nothing may move below a pointer or away from a reader: at the top of the page, without a pointer on it, it may. */
export function mayMove(): boolean {
  return scrollY === 0 && !byId('main').matches(':hover, :focus-within');
}
