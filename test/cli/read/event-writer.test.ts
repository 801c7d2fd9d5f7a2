/** Columns as text: numbers and times of any size, compared with bigints and dates. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventFilter } from '../../../src/cli/read/event-filter.js';
import { headerOf } from '../../../src/cli/read/event-text.js';
import { EventWriter } from '../../../src/cli/read/event-writer.js';
import { TextBuffer, utf8 } from '../../../src/cli/read/text-buffer.js';
import type { RingEventColumns } from '../../../src/shm-bridge/types.js';

const WORD = { max: 2n ** 64n - 1n, min: 0n };
const EDGES = [0n, 1n, 9n, 10n, 999_999_999n, 10n ** 9n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n];
const anyWord = fc.oneof(fc.bigInt(WORD), fc.constantFrom(...EDGES));

function named(names: readonly string[], events: readonly (readonly [kind: number, value: bigint, us: bigint])[]) {
  return {
    length: events.length,
    kinds: names.map((name) => ({ name, category: 5, timestamped: true })),
    kindOf: Uint32Array.from(events, ([kind]) => kind),
    values: BigUint64Array.from(events, ([, value]) => value),
    timestampsUs: BigUint64Array.from(events, ([, , us]) => us),
  } satisfies RingEventColumns;
}

function textOf(writer: EventWriter): string {
  return Buffer.from(writer.take()).toString('utf8');
}

describe('TextBuffer', () => {
  it('writes every number as a bigint does, from a buffer of any first size', () => {
    fc.assert(
      fc.property(fc.array(anyWord), (values) => {
        const text = new TextBuffer(1);
        for (const value of values) {
          text.putDecimal(Number(value >> 32n), Number(value & 0xffff_ffffn));
          text.put(utf8('é '));
        }
        expect(Buffer.from(text.take()).toString('utf8')).toBe(values.map((value) => `${value}é `).join(''));
      }),
    );
  });

  it('does not change bytes that were taken', () => {
    const text = new TextBuffer(4);
    text.put(utf8('one'));
    const taken = text.take();
    text.put(utf8('two'));
    expect(Buffer.from(taken).toString()).toBe('one');
  });
});

describe('EventWriter', () => {
  it('writes times of any size', () => {
    const mostDateUs = 8_640_000_000_000_000_000n;
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: mostDateUs }), (us) => {
        const writer = new EventWriter({ format: 'csv', utc: true }, eventFilter({}));
        writer.write(writer.batchOf('a', named(['x'], [[0, 1n, us]])));
        const second = new Date(Number(us / 1_000_000n) * 1000)
          .toISOString()
          .replace(/\.000Z$/, '')
          .replace('T', ' ');
        const fraction = String(us % 1_000_000n).padStart(6, '0');
        expect(textOf(writer)).toBe(`a,${second}.${fraction}Z,,PERFORMANCE,x,1\n`);
      }),
    );
    const writer = new EventWriter({ format: 'csv', utc: true }, eventFilter({}));
    writer.write(writer.batchOf('a', named(['x'], [[0, 1n, 2n ** 64n - 1n]])));
    expect(textOf(writer)).toBe('a,out-of-range.551615Z,,PERFORMANCE,x,1\n');
  });

  it('leaves out kinds and values that are not asked for, and counts the rest', () => {
    const writer = new EventWriter({ format: 'line' }, eventFilter({ slow: 10.5 }));
    const events = named(
      ['agent_xfer_time', 'agent_tx_bytes'],
      [
        [0, 10n, 0n],
        [0, 11n, 0n],
        [1, 100n, 0n],
        [0, 2n ** 64n - 1n, 0n],
      ],
    );
    expect(writer.write(writer.batchOf('a', events))).toBe(2);
    expect(textOf(writer).match(/\d+$/gm)).toEqual(['11', '18446744073709551615']);
    expect(textOf(writer)).toBe('');
  });

  it('keeps the agents of several rings apart', () => {
    const writer = new EventWriter({ format: 'json' }, eventFilter({}));
    for (const agent of ['a', 'b"', 'a']) writer.write(writer.batchOf(agent, named(['x'], [[0, 1n, 0n]])));
    const agents = textOf(writer)
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { agent: string }).agent);
    expect(agents).toEqual(['a', 'b"', 'a']);
  });

  const time = 1_700_000_000_123_456n; // 2023-11-14 22:13:20.123456 UTC
  const typed = (type: number): RingEventColumns => ({
    ...named(['x'], [[0, 7n, time]]),
    kinds: [{ type, timestamped: false }],
  });

  it.each([
    ['text', 'Arrived: 2023-11-14 22:13:20.123456Z\nCategory: ', '\n=== NIXL Telemetry Event ===\nCategory: '],
    ['line', '~2023-11-14 22:13:20.123456Z a ', '- a '],
    ['json', '{"agent":"a","arrived":"2023-11-14T22:13:20.123456Z","category":', '{"agent":"a","category":'],
    ['csv', 'a,,2023-11-14 22:13:20.123456Z,PERFORMANCE', 'a,,,PERFORMANCE'],
  ] as const)('marks times of arrival as such, and writes none before: %s', (format, arrived, none) => {
    const writer = new EventWriter({ format, utc: true }, eventFilter({}));
    writer.write(writer.batchOf('a', typed(6), true));
    expect(textOf(writer)).toContain(arrived);
    writer.write(writer.batchOf('a', typed(6)));
    expect(textOf(writer)).toContain(none);
  });

  it.each([
    ['text', 6, 'Value: 7 us\n='],
    ['text', 0, 'Value: 7 B\n='],
    ['text', 2, 'Value: 7\n='],
    ['line', 0, ' agent_tx_bytes 7 B\n'],
    ['json', 6, '"value":7,"unit":"us"}\n'],
    ['json', 2, '"value":7}\n'],
    ['csv', 6, ',agent_xfer_time,7,us\n'],
    ['csv', 2, ',agent_tx_requests_num,7,\n'],
  ] as const)('writes units where they are asked for: %s of type %d', (format, type, end) => {
    const writer = new EventWriter({ format, units: true }, eventFilter({}));
    writer.write(writer.batchOf('a', typed(type)));
    expect(textOf(writer)).toContain(end);
    const columns = headerOf({ format, units: true }).split(',').length;
    if (format === 'csv') expect(end.split(',').length + 3).toBe(columns);
  });

  it('writes parts of a batch', () => {
    const writer = new EventWriter({ format: 'line' }, eventFilter({}));
    const batch = writer.batchOf(
      'a',
      named(
        ['x'],
        [1n, 2n, 3n, 4n].map((value) => [0, value, 0n] as const),
      ),
    );
    expect(writer.write(batch, 1, 3)).toBe(2);
    expect(writer.write(batch, 3, 4, 0)).toBe(0);
    expect(textOf(writer).match(/\d+$/gm)).toEqual(['2', '3']);
  });
});
