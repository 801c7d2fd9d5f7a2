/** The cursor that all charts share: a time under the pointer or chosen by keys, and the span that keys select. */

export class TimeCursor {
  /** Seconds since the epoch. */
  #at: number | undefined;
  #anchor: number | undefined;
  readonly #listeners: (() => void)[] = [];
  readonly #onZoom: (span: readonly [from: number, to: number] | undefined) => void;

  /** `onZoom` gets the wanted span in seconds since the epoch, or undefined for the way back. */
  constructor(onZoom: (span: readonly [from: number, to: number] | undefined) => void) {
    this.#onZoom = onZoom;
  }

  get at(): number | undefined {
    return this.#at;
  }

  /** The selected span, if keys selected one. */
  get selection(): readonly [from: number, to: number] | undefined {
    if (this.#anchor === undefined || this.#at === undefined) return undefined;
    return [Math.min(this.#anchor, this.#at), Math.max(this.#anchor, this.#at)];
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Moves the cursor; undefined hides it. */
  point(at: number | undefined): void {
    if (at === this.#at && this.#anchor === undefined) return;
    this.#anchor = undefined;
    this.#move(at);
  }

  /** Moves the cursor by this many of the times, from the newest one at first. `isSelecting`: the span grows with it. */
  step(times: readonly number[], steps: number, isSelecting: boolean): void {
    const from = this.#at ?? times.at(-1);
    if (from === undefined) return;
    const found = times.findIndex((time) => time >= from);
    const place = found === -1 ? times.length - 1 : found;
    const to = times[Math.min(times.length - 1, Math.max(0, place + steps))];
    this.#anchor = isSelecting ? (this.#anchor ?? from) : undefined;
    this.#move(to);
  }

  /** Zooms to the selection. Returns false if there is none. */
  zoomToSelection(): boolean {
    const span = this.selection;
    if (span === undefined || span[0] === span[1]) return false;
    this.zoom(...span);
    return true;
  }

  zoom(from: number, to: number): void {
    this.point(undefined);
    this.#onZoom([from, to]);
  }

  zoomOut(): void {
    this.#onZoom(undefined);
  }

  #move(at: number | undefined): void {
    this.#at = at;
    for (const listener of this.#listeners) listener();
  }
}
