/** Time by size on the page: its requests, and the card and the section of the panel that show the answers. */
import { byId, watchSight } from '../common/dom.js';
import { SizeSection } from '../panel/size-section.js';
import { Poll } from '../poll.js';
import type { ViewState } from '../view.js';
import { SizeCard } from './size-card.js';
import { SizeSource } from './size-source.js';

export interface SizesOnPageInput {
  /** Start of the serve that the other figures come from. */
  readonly startedMs: number;
  readonly view: ViewState;
  /** Agents that match the filter, in the order of the page. */
  readonly order: readonly number[];
  /** The agent of the panel. */
  readonly id: number | undefined;
}

/** A minute changes little in that time. */
const INTERVAL_MS = 5000;

export class SizesOnPage {
  readonly #source = new SizeSource();
  readonly #card: SizeCard;
  readonly #section: SizeSection;
  readonly #poll: Poll<Parameters<SizeSource['add']>[0]>;
  #input: SizesOnPageInput | undefined;
  #isSeen = false;
  #isPaused = false;

  constructor(onView: (change: Partial<ViewState>) => void) {
    this.#card = new SizeCard(onView);
    this.#section = new SizeSection(onView);
    this.#poll = new Poll({
      intervalMs: INTERVAL_MS,
      load: (signal) => this.#source.load({ wantsAll: this.#wantsAll, id: this.#input?.id }, signal),
      onData: (data) => {
        this.#source.add(data);
        this.#show();
      },
      onFailure: () => this.#show(),
    });
    watchSight(byId('time-by-size'), (isSeen) => {
      this.#isSeen = isSeen;
      if (isSeen && this.#source.ageMs >= INTERVAL_MS) this.#poll.now();
    });
  }

  show(input: SizesOnPageInput): void {
    const before = this.#input;
    this.#input = input;
    this.#source.keepOnly(input.startedMs);
    if (input.id !== undefined && input.id !== before?.id) this.#poll.now();
    this.#show();
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#poll.pause(isPaused);
  }

  /** A card that has nothing to show yet is never in view. */
  get #wantsAll(): boolean {
    return this.#isSeen || this.#card.isHidden;
  }

  #show(): void {
    const { all, ageMs } = this.#source;
    const id = this.#input?.id;
    this.#section.show(id === undefined ? undefined : this.#source.detailOf(id), this.#input?.view.direction);
    if (this.#input === undefined || all === undefined) return this.#card.hide();
    const { view, order } = this.#input;
    if (this.#wantsAll) this.#card.show({ answer: all, view, order, ageMs: this.#isPaused ? 0 : ageMs });
  }
}
