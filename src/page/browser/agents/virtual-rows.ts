/** Only the rows in view exist: a thousand agents cost as much as twenty. */
import { element } from '../common/dom.js';

/** Rows beyond each edge of the view, so that a fast wheel meets no empty place. */
const SPARE_ROWS = 4;

export class VirtualRows<Key, Element_ extends { readonly node: HTMLElement }> {
  readonly #scroller: HTMLElement;
  readonly #body: HTMLElement;
  readonly #make: () => Element_;
  readonly #above = element('tr', { 'aria-hidden': 'true' }, element('td'));
  readonly #below = element('tr', { 'aria-hidden': 'true' }, element('td'));
  readonly #elements = new Map<Key, Element_>();
  #count = 0;
  /** Measured outside of updates: reading them there would lay out the page twice. */
  #rowPx = 0;
  #top = 0;
  #heightPx = 0;

  constructor(scroller: HTMLElement, body: HTMLElement, make: () => Element_) {
    this.#scroller = scroller;
    this.#body = body;
    this.#make = make;
    body.append(this.#above, this.#below);
  }

  /** Reads the sizes: after each scroll and each change of size. */
  measure(): void {
    const style = getComputedStyle(document.documentElement);
    this.#rowPx = parseFloat(style.getPropertyValue('--row-height')) * parseFloat(style.fontSize);
    this.#top = this.#scroller.scrollTop;
    this.#heightPx = this.#scroller.clientHeight;
  }

  /** Shows the rows in view. `fill` gets each of them with its place. */
  show(keys: readonly Key[], fill: (row: Element_, index: number) => void): void {
    if (this.#rowPx === 0) this.measure();
    this.#count = keys.length;
    const height = this.#rowPx;
    const first = Math.max(0, Math.floor(this.#top / height) - SPARE_ROWS);
    const end = Math.min(keys.length, first + Math.ceil(this.#heightPx / height) + 2 * SPARE_ROWS);
    const begin = Math.min(first, end);
    this.#drop(new Set(keys.slice(begin, end)));
    this.#spacer(this.#above, begin * height);
    let before: Element = this.#above;
    for (let i = begin; i < end; i++) {
      const row = this.#elements.get(keys[i]!) ?? this.#make();
      this.#elements.set(keys[i]!, row);
      if (before.nextElementSibling !== row.node) before.after(row.node);
      fill(row, i);
      before = row.node;
    }
    if (before.nextElementSibling !== this.#below) before.after(this.#below);
    this.#spacer(this.#below, (keys.length - end) * height);
  }

  /** Scrolls the row into view, below the heading. */
  reveal(index: number, headPx: number): void {
    const { scrollTop, clientHeight } = this.#scroller;
    const height = this.#rowPx;
    const top = index * height;
    if (top < scrollTop) this.#scroller.scrollTop = top;
    const bottom = top + height + headPx;
    if (bottom > scrollTop + clientHeight) this.#scroller.scrollTop = bottom - clientHeight;
    this.measure();
  }

  /** True while a change of order would move a row away from a pointer or the focus. */
  get isHeld(): boolean {
    return this.#count > 0 && this.#body.matches(':hover, :focus-within');
  }

  #drop(kept: ReadonlySet<Key>): void {
    for (const [key, { node }] of this.#elements) {
      if (kept.has(key)) continue;
      node.remove();
      this.#elements.delete(key);
    }
  }

  #spacer(row: HTMLElement, height: number): void {
    row.hidden = height === 0;
    (row.firstElementChild as HTMLElement).style.height = `${height}px`;
  }
}
