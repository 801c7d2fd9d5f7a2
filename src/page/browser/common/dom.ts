/** Access to the document. Text enters as text, never as markup: names come from files that any user may have made. */
import { type Figure, separateUnitsWith, UNKNOWN, wholeText, withUnit } from '../../../ground/figures/figure.js';
import type { MarkShape } from '../../../view/verdict/types.js';

// No line break divides a number and its unit.
separateUnitsWith('\u00a0');

/** Returns an element of the page. @throws Error if the page lacks it. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

type ElementAttributes = Readonly<Record<string, string>>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: ElementAttributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag: string, attributes: ElementAttributes, ...children: Node[]): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Shapes of states, and signs on buttons: symbols of index.html. */
export type IconName = MarkShape | 'up' | 'down' | 'close' | 'pause' | 'play';

export function icon(name: IconName): SVGElement {
  return svg('svg', { class: 'icon', 'aria-hidden': 'true' }, svg('use', { href: `#icon-${name}` }));
}

/** Changes the symbol of an icon. */
export function setIcon(node: Element, name: IconName): void {
  setAttribute(node.firstElementChild!, 'href', `#icon-${name}`);
}

/** Makes a mark for the eye only. `colour`: name of a variable in theme.css. */
export function mark(classes: string, colour: string): HTMLElement {
  const made = element('span', { class: classes, 'aria-hidden': 'true' });
  made.style.color = `var(--${colour})`;
  return made;
}

/** Changes a text only if it differs: a screen reader or a selection may be on it. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node: Element, name: string, value: string): void {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Sets the length of a bar, 0 to 1. A width below a percent cannot be seen. */
export function setShare(bar: HTMLElement, share: number): void {
  const text = share.toFixed(2);
  if (bar.style.getPropertyValue('--share') !== text) bar.style.setProperty('--share', text);
}

/** Calls `onSight` when an element comes into view and when it leaves. A quarter of the window ahead counts as in view. */
export function watchSight(node: Element, onSight: (isSeen: boolean) => void): void {
  const observer = new IntersectionObserver((changes) => onSight(changes.at(-1)!.isIntersecting), {
    rootMargin: '25%',
  });
  observer.observe(node);
}

/** Announces a text to screen readers. */
export function announce(text: string): void {
  setText(byId('announced'), text);
}

/** Isolates a name from a ring, so that its writing direction does not affect the text beside it. */
export function named(name: string): HTMLElement {
  return element('bdi', {}, name);
}

export function figurePlace(classes = ''): HTMLElement {
  return element('span', { class: classes }, element('span', { class: 'number' }), element('span', { class: 'unit' }));
}

/** Shows a number with a softer unit in the same line. */
export function setFigure(place: Element, { value, unit }: Figure): void {
  setText(place.children[0]!, value);
  setText(place.children[1]!, withUnit('', unit));
  place.classList.toggle('soft', value === '0' || value === UNKNOWN);
}

/** Shows a rounded number, with the exact one as tooltip and value. */
export function setNumber(node: HTMLDataElement, value: number, text: string): void {
  setText(node, text);
  const exact = String(value);
  if (node.value === exact) return;
  node.value = exact;
  node.title = wholeText(value);
}

/** Makes one row per item and reuses rows, so that the focus stays. */
export function setRows<Item>(
  body: Element,
  items: readonly Item[],
  make: () => Element,
  fill: (row: HTMLElement, item: Item) => void,
): void {
  while (body.children.length > items.length) body.lastElementChild!.remove();
  while (body.children.length < items.length) body.append(make());
  items.forEach((item, i) => fill(body.children[i] as HTMLElement, item));
}
