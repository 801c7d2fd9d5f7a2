/** Memory that is used again from page to page: a page of many agents has megabytes. */

/** Share of the last page by which the next may be longer: numbers become longer. */
const SPARE = 1 / 16;

/** Returns the given memory, or other memory if it is too small, or far too large, for what follows `lastBytes`. */
export function roomFor(lastBytes: number, room: Uint8Array | undefined): Uint8Array {
  const bytes = Math.ceil(lastBytes * (1 + SPARE));
  if (room !== undefined && room.length >= lastBytes && room.length <= 1.5 * bytes) return room;
  return new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer); // no Buffer: parts of one are slow to make
}

/** Returns all memory of the buffer that the bytes are a part of. */
export function wholeBuffer({ buffer }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer);
}
