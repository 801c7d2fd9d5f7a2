/** Access to the document. Text enters as text, never as markup: names come from files that any user may have made. */

/** Text in place of an unknown value. */
export const UNKNOWN = '–';

/** Returns an element of the page. @throws Error if the page lacks it. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

type Attributes = Readonly<Record<string, string>>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Makes a mark for the eye only. `colour`: name of a variable in page.css. */
export function mark(classes: string, colour: string): HTMLElement {
  const made = element('span', { class: classes, 'aria-hidden': 'true' });
  made.style.color = `var(--${colour})`;
  return made;
}

/** Changes a text only if it differs: a screen reader or a selection may be on it. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Isolates a name from a ring, so that its writing direction does not affect the text beside it. */
export function named(name: string): HTMLElement {
  return element('bdi', {}, name);
}

/** Shows a rounded number, with the exact one as tooltip and value. */
export function setNumber(node: HTMLDataElement, value: number, text: string): void {
  setText(node, text);
  const exact = String(value);
  if (node.value === exact) return;
  node.value = exact;
  node.title = value.toLocaleString('en-US');
}

/** Makes one row per item and reuses rows, so that the focus stays. */
export function setRows<Item>(
  body: HTMLElement,
  items: readonly Item[],
  make: () => HTMLElement,
  fill: (row: HTMLElement, item: Item) => void,
): void {
  while (body.children.length > items.length) body.lastElementChild!.remove();
  while (body.children.length < items.length) body.append(make());
  items.forEach((item, i) => fill(body.children[i] as HTMLElement, item));
}
