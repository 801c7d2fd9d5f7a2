/** Lines that end in numbers. Between two pages only the numbers change, so all other bytes are kept. */
import { PageBytes, widthOf, writeNumber } from './page-bytes.js';

/** To write it: begin(), number() once per line, end(). */
export class NumberedText {
  /** The text as last written; at first without numbers. */
  #bytes: Uint8Array;
  /** Place of each number in `#bytes`. */
  readonly #starts: number[] = [];
  readonly #widths: number[] = [];

  #page = NO_PAGE;
  #pageBegin = 0;
  /** Next number. */
  #next = 0;
  /** End of the part of `#bytes` that is on the page. */
  #copied = 0;
  /** Bytes by which the numbers so far have become longer. */
  #growth = 0;

  /** `heads`: the text of each line in front of its number. */
  constructor(comments: string, heads: readonly string[]) {
    const page = new PageBytes(comments.length + heads.length * 128);
    page.text(comments);
    for (const head of heads) {
      page.text(head);
      this.#starts.push(page.length);
      this.#widths.push(0);
      page.endLine();
    }
    this.#bytes = page.copyFrom(0);
  }

  begin(page: PageBytes): void {
    this.#page = page;
    this.#pageBegin = page.length;
    this.#next = this.#copied = this.#growth = 0;
  }

  /** Replaces a number in place if it is as wide as the one before; otherwise copies the text up to it to the page. */
  number(value: number): void {
    const line = this.#next++;
    const start = this.#starts[line]!;
    const before = this.#widths[line]!;
    const width = widthOf(value);
    if (width === before) {
      writeNumber(this.#bytes, start, width, value);
      this.#starts[line] = start + this.#growth;
      return;
    }
    this.#page.append(this.#bytes, this.#copied, start);
    this.#page.number(value);
    this.#copied = start + before;
    this.#starts[line] = start + this.#growth;
    this.#widths[line] = width;
    this.#growth += width - before;
  }

  end(): void {
    this.#page.append(this.#bytes, this.#copied);
    if (this.#copied > 0) this.#bytes = this.#page.copyFrom(this.#pageBegin);
    this.#page = NO_PAGE;
  }
}

/** Keeps no page alive between two pages. */
const NO_PAGE = new PageBytes(0);
