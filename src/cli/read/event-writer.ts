/** Columns of events as the text of a format, filtered. Pure. */
import type { RingEventColumns, RingEventKind } from '../../shm-bridge/types.js';
import type { EventFilter } from './event-filter.js';
import { eventFrame, type ReadFormat } from './event-text.js';
import { TimeText } from './event-time.js';
import { TextBuffer, utf8 } from './text-buffer.js';

/** A kind of event as it is written; `least`: events of a smaller value are left out. */
interface WrittenKind {
  readonly timestamped: boolean;
  readonly least: bigint;
  readonly before: Uint8Array;
  readonly between: Uint8Array;
  readonly after: Uint8Array;
}

export class EventWriter {
  readonly #format: ReadFormat;
  readonly #filter: EventFilter;
  readonly #time: TimeText;
  readonly #text = new TextBuffer(1 << 20);
  /** By agent and kind. Kinds are made once, but by a ring that holds very many of them. */
  readonly #known = new Map<string, WrittenKind | undefined>();

  constructor(format: ReadFormat, utc: boolean, filter: EventFilter) {
    this.#format = format;
    this.#filter = filter;
    this.#time = new TimeText(utc);
  }

  /** How many of them were written: those that the filter shows, and no more than `most`. */
  write(agent: string, events: RingEventColumns, most = Infinity): number {
    const text = this.#text;
    const kinds = events.kinds.map((kind) => this.#kind(agent, kind));
    const values = halvesOf(events.values);
    const times = halvesOf(events.timestampsUs);
    const [low, high] = LITTLE_ENDIAN ? [0, 1] : [1, 0];
    let written = 0;
    for (let i = 0; i < events.length && written < most; i++) {
      const kind = kinds[events.kindOf[i]!];
      if (kind === undefined || (kind.least > 0n && events.values[i]! < kind.least)) continue;
      written++;
      text.put(kind.before);
      if (kind.timestamped) {
        this.#time.put(text, times[2 * i + high]!, times[2 * i + low]!);
        text.put(kind.between);
      }
      text.putDecimal(values[2 * i + high]!, values[2 * i + low]!);
      text.put(kind.after);
    }
    return written;
  }

  /** What was written since the last call. */
  take(): Uint8Array {
    return this.#text.take();
  }

  #kind(agent: string, kind: RingEventKind): WrittenKind | undefined {
    const key = `${agent}\0${kind.type ?? ''}\0${kind.category ?? ''}\0${kind.name ?? ''}\0${kind.timestamped}`;
    if (this.#known.has(key)) return this.#known.get(key);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const made = this.#newKind(agent, kind);
    this.#known.set(key, made);
    return made;
  }

  #newKind(agent: string, kind: RingEventKind): WrittenKind | undefined {
    const least = this.#filter(kind);
    if (least === undefined) return undefined;
    const { timestamped } = kind;
    const { before, between, after } = eventFrame(this.#format, agent, kind);
    return {
      timestamped,
      least,
      before: utf8(timestamped ? before : before + between),
      between: utf8(between),
      after: utf8(after),
    };
  }
}

const MAX_KNOWN = 10_000;
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** A bigint for each value would cost more than all the rest. */
function halvesOf({ buffer, byteOffset, length }: BigUint64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, 2 * length);
}
