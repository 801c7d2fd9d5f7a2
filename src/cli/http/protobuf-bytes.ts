/**
 * Fields of protobuf's wire format, appended to bytes that grow. Tags are given as the byte that a field begins with: its
 * number times 8, plus 0 for a varint, 1 for eight bytes, 2 for bytes after their length. Numbers are exact below 2^53.
 */

const LONGEST_VARINT = 10;
/** Up to this length a loop copies faster than set(), which needs a view of the bytes. */
const SHORT = 64;

export class ProtobufBytes {
  #bytes: Uint8Array;
  #view: DataView;
  #end = 0;

  /** `room`: memory to write to; other memory follows if it becomes full. */
  constructor(room: Uint8Array = new Uint8Array(256)) {
    this.#bytes = room;
    this.#view = new DataView(room.buffer, room.byteOffset, room.length);
  }

  get length(): number {
    return this.#end;
  }

  /** Removes all bytes, so that they can be written anew. */
  clear(): void {
    this.#end = 0;
  }

  /** Returns the bytes. They are valid until the next change. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  varint(tag: number, value: number): void {
    this.#makeRoom(1 + LONGEST_VARINT);
    this.#bytes[this.#end++] = tag;
    this.#varint(value);
  }

  /** Writes a number that may be negative. */
  signed(tag: number, value: number): void {
    this.varint(tag, zigZag(value));
  }

  /** Writes a number of a packed field, which may be negative. */
  packed(value: number): void {
    this.#makeRoom(LONGEST_VARINT);
    this.#varint(zigZag(value));
  }

  double(tag: number, value: number): void {
    this.#makeRoom(9);
    this.#bytes[this.#end] = tag;
    this.#view.setFloat64(this.#end + 1, value, true);
    this.#end += 9;
  }

  append(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Writes a field of bytes: a message or a packed field. */
  field(tag: number, bytes: Uint8Array): void {
    this.varint(tag, bytes.length);
    this.append(bytes);
  }

  message(tag: number, message: ProtobufBytes): void {
    this.varint(tag, message.length);
    this.#makeRoom(message.length);
    if (message.length > SHORT) return this.append(message.bytes());
    for (let i = 0; i < message.length; i++) this.#bytes[this.#end++] = message.#bytes[i]!;
  }

  text(tag: number, text: string): void {
    this.field(tag, Buffer.from(text));
  }

  /** Writes a message of a list that has no tags. */
  delimited(bytes: Uint8Array): void {
    this.#makeRoom(LONGEST_VARINT);
    this.#varint(bytes.length);
    this.append(bytes);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#end++] = (rest % 0x80) | 0x80;
      rest = rest < 0x8000_0000 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    this.#bytes[this.#end++] = rest;
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#end + bytes));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Returns a number that may be negative as one that may not. */
export function zigZag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** Returns the number of bytes of a number as a varint. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest /= 0x80) length++;
  return length;
}
