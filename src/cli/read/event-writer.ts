/** Writes columns of events as filtered text. Pure. */
import type { RingEventColumns, RingEventKind } from '../../shm-bridge/types.js';
import { dateAndTime } from '../../ground/figures/clock.js';
import type { EventFilter } from './event-filter.js';
import { eventFrame, type EventFormat, type EventTimeKind } from './event-text.js';
import type { EventTotals, Summary } from './summary.js';
import { TextBuffer, utf8 } from './text-buffer.js';

/** Text of one kind of event. `least`: events of a smaller value are left out. */
interface WrittenKind {
  readonly hasTime: boolean;
  readonly least: bigint;
  readonly before: Uint8Array;
  readonly between: Uint8Array;
  readonly after: Uint8Array;
  /** Present for a summary. */
  readonly totals: EventTotals | undefined;
}

/** Events of one ring, ready to be written in parts. */
export interface WritableEvents {
  readonly length: number;
  /** Undefined for kinds that the filter leaves out. */
  readonly kinds: readonly (WrittenKind | undefined)[];
  readonly kindOf: Uint32Array;
  readonly values: BigUint64Array;
  readonly valueHalves: Uint32Array;
  readonly timeHalves: Uint32Array;
}

export class EventWriter {
  readonly #format: EventFormat;
  readonly #filter: EventFilter;
  readonly #writeTime: ReturnType<typeof timeWriter>;
  readonly #summary: Summary | undefined;
  readonly #text = new TextBuffer(1 << 20);
  /** Keyed by agent and kind. Bounded, because a hostile ring may hold very many kinds. */
  readonly #known = new Map<string, WrittenKind | undefined>();

  /** `summary` gets the written events. */
  constructor(format: EventFormat, filter: EventFilter, summary?: Summary) {
    this.#format = format;
    this.#filter = filter;
    this.#writeTime = timeWriter(format.format === 'json' ? 'iso' : format.utc === true ? 'utc' : 'local');
    this.#summary = summary;
  }

  /** Prepares events for write(). `haveArrived`: `timestampsUs` of events without a time has that of their arrival. */
  batchOf(agent: string, events: RingEventColumns, haveArrived = false): WritableEvents {
    return {
      length: events.length,
      kinds: events.kinds.map((kind) =>
        this.#kind(agent, kind, kind.timestamped ? 'written' : haveArrived ? 'arrived' : 'none'),
      ),
      kindOf: events.kindOf,
      values: events.values,
      valueHalves: halvesOf(events.values),
      timeHalves: halvesOf(events.timestampsUs),
    };
  }

  /** Writes the events from `from` to before `to` that the filter shows, at most `most`. Returns their number. */
  write(batch: WritableEvents, from = 0, to = batch.length, most = Infinity): number {
    const text = this.#text;
    const { kinds, kindOf, values, valueHalves, timeHalves } = batch;
    let written = 0;
    for (let i = from; i < to && written < most; i++) {
      const kind = kinds[kindOf[i]!];
      if (kind === undefined || (kind.least > 0n && values[i]! < kind.least)) continue;
      written++;
      text.put(kind.before);
      if (kind.hasTime) {
        this.#writeTime(text, timeHalves[2 * i + HIGH]!, timeHalves[2 * i + LOW]!);
        text.put(kind.between);
      }
      text.putDecimal(valueHalves[2 * i + HIGH]!, valueHalves[2 * i + LOW]!);
      kind.totals?.add(valueHalves[2 * i + HIGH]!, valueHalves[2 * i + LOW]!);
      text.put(kind.after);
    }
    return written;
  }

  /** Returns the text since the last call. */
  take(): Uint8Array {
    return this.#text.take();
  }

  #kind(agent: string, kind: RingEventKind, time: EventTimeKind): WrittenKind | undefined {
    const key = `${agent}\0${kind.type ?? ''}\0${kind.category ?? ''}\0${kind.name ?? ''}\0${time}`;
    if (this.#known.has(key)) return this.#known.get(key);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const made = this.#newKind(agent, kind, time);
    this.#known.set(key, made);
    return made;
  }

  #newKind(agent: string, kind: RingEventKind, time: EventTimeKind): WrittenKind | undefined {
    const least = this.#filter(kind);
    if (least === undefined) return undefined;
    const hasTime = time !== 'none';
    const { before, between, after } = eventFrame(this.#format, agent, kind, time);
    return {
      hasTime,
      least,
      before: utf8(hasTime ? before : before + between),
      between: utf8(between),
      after: utf8(after),
      totals: this.#summary?.totalsOf(kind),
    };
  }
}

const MAX_KNOWN = 10_000;
/** Places of the halves of a 64-bit value on this machine. */
const [LOW, HIGH] = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? [0, 1] : [1, 0];

/** Returns the time of an event, microseconds since the Unix epoch; not exact from the year 2255 on. */
export function timeUsOf({ timeHalves }: WritableEvents, i: number): number {
  return timeHalves[2 * i + HIGH]! * TWO_32 + timeHalves[2 * i + LOW]!;
}

/** Views 64-bit values as halves: a bigint per value would cost more than all other work. */
function halvesOf({ buffer, byteOffset, length }: BigUint64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, 2 * length);
}

const MILLION = 1_000_000;
const TWO_32 = 2 ** 32;
/** Below 2^52 microseconds, in the year 2112, no quotient is rounded up to the next second. */
const EXACT_HIGH = 2 ** 20;

/** Writes `2026-11-21 06:30:25.123456` in local time, with a Z at its end in UTC, and with a T for the blank as ISO. */
function timeWriter(clock: 'local' | 'utc' | 'iso') {
  const end = utf8(clock === 'local' ? '' : 'Z');
  // Most events share the second of the event before them.
  let lastSecond = -1;
  let lastText = utf8('');
  /** Takes microseconds since the Unix epoch, in two halves. */
  return (text: TextBuffer, high: number, low: number): void => {
    const [second, us] = high < EXACT_HIGH ? inSeconds(high * TWO_32 + low) : inSecondsExactly(high, low);
    if (second !== lastSecond) {
      lastSecond = second;
      lastText = utf8(`${secondText(new Date(second * 1000), clock)}.`);
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

function secondText(date: Date, clock: 'local' | 'utc' | 'iso'): string {
  if (Number.isNaN(date.getTime())) return 'out-of-range';
  if (clock === 'local') return dateAndTime(date.getTime());
  const iso = date.toISOString().slice(0, -'.000Z'.length);
  return clock === 'iso' ? iso : iso.replace('T', ' ');
}
