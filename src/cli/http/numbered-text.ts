/** Lines that end in numbers. Between two pages only the numbers change, so all other bytes are kept. */
import { widthOf, writeNumber } from './number-bytes.js';
import { PageBytes } from './page-bytes.js';
import { roomFor } from './room.js';

/** Room for each number. */
const USUAL_WIDTH = 6;

/** To write it: begin(), number() once per line, end(). */
export class NumberedText {
  /** The text as last written, and spare memory; at first without numbers. */
  #bytes: Uint8Array;
  #length = 0;
  /** Place of each number in `#bytes`. */
  readonly #starts: Uint32Array;
  readonly #widths: Uint8Array;

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
    this.#starts = new Uint32Array(heads.length);
    this.#widths = new Uint8Array(heads.length);
    this.#length = Buffer.byteLength(comments);
    for (const [line, head] of heads.entries()) {
      this.#starts[line] = this.#length += Buffer.byteLength(head);
      this.#length++; // the end of the line
    }
    const bytes = Buffer.allocUnsafeSlow(this.#length + heads.length * USUAL_WIDTH);
    bytes.write(`${comments}${heads.join('\n')}\n`);
    this.#bytes = new Uint8Array(bytes.buffer);
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
    this.#page.append(this.#bytes, this.#copied, this.#length);
    if (this.#copied > 0) this.#keep();
    this.#page = NO_PAGE;
  }

  /** Takes the text over from the page. */
  #keep(): void {
    this.#length = this.#page.length - this.#pageBegin;
    this.#bytes = roomFor(this.#length, this.#bytes);
    this.#page.copyTo(this.#bytes, this.#pageBegin);
  }
}

/** Keeps no page alive between two pages. */
const NO_PAGE = new PageBytes(new Uint8Array(0));
