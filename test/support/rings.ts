/** Rings like those of agents: all event types, extreme values, wrapped round, full, with garbage in the padding. */
import { readFileSync, writeFileSync } from 'node:fs';
import { EVENTS } from '../../src/mapping/index.js';
import { openRing, type RingEvent, RingWriter, type WriteEvent } from '../../src/shm-bridge/index.js';

/** All wire versions of the package. ring-writer.ts has the range, native/ring/ring_layout.h the layouts. */
export const WIRE_VERSIONS = [1, 2, 3, 4, 5];

/** Edge values: equal as doubles, or beyond the usual number types. */
const VALUES = [0n, 1n, 10n, 11n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

/** All event types twice, with different values. */
const everyType = [...EVENTS, ...EVENTS].map(({ type }, i) => ({ type, value: VALUES[i % VALUES.length]! }));
const unknownTypes = [77, 4_000_000_000].map((type, i) => ({ type, value: VALUES[7 + i]! }));

/** Events of `everyType` by the names of wire version 1, and events of backends in all eight categories. */
const everyName = everyType.map(({ type, value }, i) => {
  const { event, wireVersion1Name, category } = EVENTS[type]!;
  return { name: wireVersion1Name ?? event, category, timestampUs: BigInt(i), value };
});
const backendNames = [0, 1, 2, 3, 4, 5, 6, 7].map((category) => ({
  name: `backend.${category} "quoted"`,
  category,
  timestampUs: 5n,
  value: VALUES[category + 1]!,
}));

/** Returns events that a ring of this wire version can hold, with edge values. */
export function eventsFor(wireVersion: number): (WriteEvent & RingEvent)[] {
  if (wireVersion === 1) return [...everyName, ...backendNames];
  if (wireVersion > 2) return [...everyType, ...unknownTypes];
  return [...everyType, ...unknownTypes].map((e) => ({ ...e, category: EVENTS[e.type]?.category ?? 7 }));
}

/** @throws if the ring is full. An expectation for each event would take longer than the event. */
export function pushAll(writer: RingWriter, events: Iterable<WriteEvent>): void {
  for (const event of events) if (!writer.push(event)) throw new Error('the ring is full');
}

/** Writes the events to a ring. Its positions are `skipped` before, so that the events wrap. */
export function writeRing(file: string, wireVersion: number, events: readonly WriteEvent[], skipped = 0): void {
  const writer = new RingWriter(file, { wireVersion, capacity: 64 });
  const drain = openRing(file);
  for (let i = 0; i < skipped; i++) {
    writer.push({ value: 1n });
    drain.drain();
  }
  drain.close();
  pushAll(writer, events);
  writer.close();
}

/** Repeats the events up to the capacity of a ring with 64 slots. */
export function fullRing(wireVersion: number): (WriteEvent & RingEvent)[] {
  const events = eventsFor(wireVersion);
  return Array.from({ length: 63 }, (_, i) => events[i % events.length]!);
}

export const header = (wireVersion: number) =>
  wireVersion === 5 ? { size: 512, readPos: 256 } : { size: 40, readPos: 8 };

/** Writes garbage into the padding of slots, as in real rings: a producer copies whole structs. */
export function spoilPadding(file: string, wireVersion: number): void {
  if (wireVersion === 2) return; // has no padding
  const bytes = readFileSync(file);
  const [slot, from] = wireVersion === 1 ? [56, 44] : [16, 4];
  for (let at = header(wireVersion).size; at < bytes.length; at += slot) bytes.fill(0xa5, at + from, at + from + 4);
  writeFileSync(file, bytes);
}
