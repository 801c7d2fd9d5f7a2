/** The few things that the page does to its document. Text only ever enters as text: names come from files of anyone. */

/** @throws when the page lacks it. */
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

/** Leaves what is right as it is: a screen reader, or a selection, may be on it. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** A name from a ring: of either writing direction, and without an effect on what stands beside it. */
export function named(name: string): HTMLElement {
  return element('bdi', {}, name);
}

/** A number in words, with the exact one for whoever points at it or reads the markup. */
export function setNumber(node: HTMLDataElement, value: number, text: string): void {
  setText(node, text);
  const exact = String(value);
  if (node.value === exact) return;
  node.value = exact;
  node.title = value.toLocaleString('en-US');
}

/** As many rows as there are items, re-used: what has the focus keeps it. */
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
