/** A choice of one of a few: buttons side by side. */
import { element, setAttribute } from './dom.js';

export class Segment<Value extends string> {
  readonly node: HTMLElement;
  readonly #buttons: ReadonlyMap<Value, HTMLElement>;

  /** `label`: what is chosen, for screen readers. */
  constructor(label: string, texts: Readonly<Record<Value, string>>, onChoice: (value: Value) => void) {
    const all = Object.entries(texts) as [Value, string][];
    this.#buttons = new Map(all.map(([value, text]) => [value, element('button', { type: 'button' }, text)]));
    for (const [value, button] of this.#buttons) button.addEventListener('click', () => onChoice(value));
    this.node = element('div', { class: 'segment', role: 'group', 'aria-label': label }, ...this.#buttons.values());
  }

  /** Without a choice to make the buttons are hidden. */
  show(chosen: Value, isChoice = true): void {
    this.node.hidden = !isChoice;
    for (const [value, button] of this.#buttons) setAttribute(button, 'aria-pressed', String(value === chosen));
  }
}
