/** Writes columns of events as filtered text. Pure. */
import type { RingEventColumns, RingEventKind } from '../../shm-bridge/types.js';
import { dateAndTime } from '../figures/formats.js';
import type { EventFilter } from './event-filter.js';
import { eventFrame, type ReadFormat } from './event-text.js';
import type { EventTotals, Summary } from './summary.js';
import { TextBuffer, utf8 } from './text-buffer.js';

/** Text of one kind of event. `least`: events of a smaller value are left out. */
interface WrittenKind {
  readonly timestamped: boolean;
  readonly least: bigint;
  readonly before: Uint8Array;
  readonly between: Uint8Array;
  readonly after: Uint8Array;
  /** Present for a summary. */
  readonly totals: EventTotals | undefined;
}

export class EventWriter {
  readonly #format: ReadFormat;
  readonly #filter: EventFilter;
  readonly #writeTime: ReturnType<typeof timeWriter>;
  readonly #summary: Summary | undefined;
  readonly #text = new TextBuffer(1 << 20);
  /** Keyed by agent and kind. Bounded, because a hostile ring may hold very many kinds. */
  readonly #known = new Map<string, WrittenKind | undefined>();

  /** `summary` gets the written events. */
  constructor(format: ReadFormat, utc: boolean, filter: EventFilter, summary?: Summary) {
    this.#format = format;
    this.#filter = filter;
    this.#writeTime = timeWriter(utc);
    this.#summary = summary;
  }

  /** Writes the events that the filter shows, at most `most`. Returns their number. */
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
        this.#writeTime(text, times[2 * i + high]!, times[2 * i + low]!);
        text.put(kind.between);
      }
      text.putDecimal(values[2 * i + high]!, values[2 * i + low]!);
      kind.totals?.add(values[2 * i + high]!, values[2 * i + low]!);
      text.put(kind.after);
    }
    return written;
  }

  /** Returns the text since the last call. */
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
      totals: this.#summary?.totalsOf(kind),
    };
  }
}

const MAX_KNOWN = 10_000;
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Views 64-bit values as halves: a bigint per value would cost more than all other work. */
function halvesOf({ buffer, byteOffset, length }: BigUint64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, 2 * length);
}

const MILLION = 1_000_000;
const TWO_32 = 2 ** 32;
/** Below 2^52 microseconds, in the year 2112, no quotient is rounded up to the next second. */
const EXACT_HIGH = 2 ** 20;

/** Writes `2026-11-21 06:30:25.123456`: local time, or UTC with a Z at the end. */
function timeWriter(utc: boolean) {
  const end = utf8(utc ? 'Z' : '');
  // Most events share the second of the event before them.
  let lastSecond = -1;
  let lastText = utf8('');
  /** Takes microseconds since the Unix epoch, in two halves. */
  return (text: TextBuffer, high: number, low: number): void => {
    const [second, us] = high < EXACT_HIGH ? inSeconds(high * TWO_32 + low) : inSecondsExactly(high, low);
    if (second !== lastSecond) {
      lastSecond = second;
      lastText = utf8(`${secondText(new Date(second * 1000), utc)}.`);
    }
    text.put(lastText);
    text.putDigits(us, 6);
    text.put(end);
  };
}

function inSeconds(timestampUs: number): [second: number, us: number] {
  const second = Math.floor(timestampUs / MILLION);
  return [second, timestampUs - second * MILLION];
}

function inSecondsExactly(high: number, low: number): [second: number, us: number] {
  const timestampUs = (BigInt(high) << 32n) | BigInt(low);
  return [Number(timestampUs / 1_000_000n), Number(timestampUs % 1_000_000n)];
}

function secondText(date: Date, utc: boolean): string {
  if (Number.isNaN(date.getTime())) return 'out-of-range';
  return utc ? date.toISOString().slice(0, -'.000Z'.length).replace('T', ' ') : dateAndTime(date);
}
