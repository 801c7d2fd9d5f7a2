/** `read --summary`: a table of exactly the printed events, with percentiles of their values. */
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventTotals, Summary } from '../../../src/cli/read/summary.js';
import { RingWriter, type WriteEvent } from '../../../src/shm-bridge/index.js';
import { comparable, exponentialTally } from '../../support/exponential.js';
import { run, start, temporaryDirectory } from '../command.js';

function add(totals: EventTotals, value: bigint): void {
  totals.add(Number(value >> 32n), Number(value & 0xffff_ffffn));
}

describe('EventTotals', () => {
  it('has the exact sum, and the counts of every value', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.bigInt(0n, 40n), fc.bigInt(0n, 2n ** 52n))), (values) => {
        const totals = new EventTotals();
        for (const value of values) add(totals, value);
        expect(totals.count).toBe(values.length);
        expect(totals.sum).toBe(values.reduce((sum, value) => sum + value, 0n));
        expect(comparable(totals.exponential)).toEqual(comparable(exponentialTally(values.map(Number))));
      }),
    );
  });

  it('adds millions of the largest values exactly', () => {
    const totals = new EventTotals();
    const most = 2n ** 64n - 1n;
    for (let i = 0; i < 3_000_000; i++) totals.add(2 ** 32 - 1, 2 ** 32 - 1);
    expect(totals.sum).toBe(3_000_000n * most);
    add(totals, most);
    expect(totals.sum).toBe(3_000_001n * most);
    expect(totals.exponential).toEqual({ scale: 4, zeroCount: 0, offset: 1023, counts: Float64Array.of(3_000_001) });
  });
});

describe('Summary', () => {
  const custom = (name: string) => ({ name, category: 7, timestamped: true });

  it('has the percentiles in the unit of the event, exact for whole numbers up to 26', () => {
    const summary = new Summary();
    const kinds = { time: { type: 6, timestamped: false }, size: { type: 1, timestamped: false }, other: custom('x') };
    for (let n = 1n; n <= 26n; n++) for (const kind of Object.values(kinds)) add(summary.totalsOf(kind), n);
    for (const value of [1_070n, 41_200n]) add(summary.totalsOf({ type: 7, timestamped: false }), value);
    expect(
      summary
        .table()!
        .split('\n')
        .map((line) => line.replaceAll(/ {2,}/g, '|')),
    ).toEqual([
      'EVENT|COUNT|SUM|P50|P90|P99|MAX|CATEGORY',
      'agent_rx_bytes|26|351 B|13 B|24 B|26 B|26 B|TRANSFER',
      'agent_xfer_post_time|2|42.3 ms|1.09 ms|41.6 ms|41.6 ms|41.6 ms|PERFORMANCE',
      'agent_xfer_time|26|351 µs|13 µs|24 µs|26 µs|26 µs|PERFORMANCE',
      'x|26|351|13|24|26|26|CUSTOM',
    ]);
  });

  it('takes values of unknown events of category PERFORMANCE for microseconds', () => {
    const summary = new Summary();
    add(summary.totalsOf({ name: 'backend.wait', category: 5, timestamped: true }), 2_000_000n);
    expect(summary.table()).toMatch(/^backend\.wait +1 +2\.00 s /m);
  });

  it('keeps categories apart, and escapes names', () => {
    const summary = new Summary();
    for (const category of [7, 3, 7]) add(summary.totalsOf({ ...custom('a\u001b[2J'), category }), 1n);
    expect(summary.table()).toMatch(/^a\\x1b\[2J +1 .* BACKEND\na\\x1b\[2J +2 .* CUSTOM$/m);
  });

  it('has one line for all names beyond a thousand', () => {
    const summary = new Summary();
    for (let i = 0; i < 1_500; i++) for (let n = 0; n < 2; n++) add(summary.totalsOf(custom(`name-${i}`)), 5n);
    const lines = summary.table()!.split('\n');
    expect(lines).toHaveLength(1 + 1_000 + 1);
    expect(lines.at(-1)).toMatch(/^\(other names\) +1,000 +- +- +- +- +- *$/);
  });

  it('is no table without events', () => {
    const summary = new Summary();
    summary.totalsOf(custom('a'));
    expect(summary.table()).toBeUndefined();
  });
});

const TRANSFER: readonly WriteEvent[] = [
  { type: 7, value: 3 },
  { type: 6, value: 12 },
  { type: 0, value: 4096 },
  { type: 2, value: 1 },
];

function ring(file: string, transfers: number): RingWriter {
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 256 });
  for (let i = 0; i < transfers; i++) for (const event of TRANSFER) writer.push(event);
  return writer;
}

/** Counts by event in the table on stderr. */
function countsIn(stderr: string): Record<string, number> {
  const lines = stderr.split('\n').filter((line) => / (TRANSFER|PERFORMANCE|ERROR)$/.test(line));
  return Object.fromEntries(lines.map((line) => [line.split(/ +/)[0]!, Number(line.split(/ +/)[1])]));
}

/** Counts by event in the JSON on stdout. */
function printed(stdout: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of stdout.split('\n').filter(Boolean)) {
    const { event } = JSON.parse(line) as { event: string };
    counts[event] = (counts[event] ?? 0) + 1;
  }
  return counts;
}

describe('nixl-otel read --summary', () => {
  it.each([
    [[], 12],
    [['--event', 'agent_xfer_*'], 6],
    [['--slow', '10us'], 3],
    [['--max-events', '5'], 5],
    [['--consume'], 12],
    [['--consume', '--max-events', '5'], 5],
  ])('covers the printed events: %j', async (flags, events) => {
    const file = path.join(temporaryDirectory(), 'agent');
    ring(file, 3).close();
    const { code, stdout, stderr } = await run(['read', '--summary', '--format', 'json', ...flags, file]);
    const counts = countsIn(stderr);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(events);
    expect(counts).toEqual(printed(stdout));
    expect(code).toBe(0);
  });

  it('is written to stderr, above the note, and changes nothing on stdout', async () => {
    const file = path.join(temporaryDirectory(), 'agent');
    ring(file, 2).close();
    const plain = await run(['read', file]);
    const { stdout, stderr } = await run(['read', '--summary', file]);
    expect(stdout).toBe(plain.stdout);
    expect(stderr.split('\n')).toEqual([
      'EVENT                  COUNT      SUM      P50      P90      P99      MAX  CATEGORY',
      'agent_tx_bytes             2  8.19 kB  4.01 kB  4.01 kB  4.01 kB  4.01 kB  TRANSFER',
      'agent_tx_requests_num      2        2        1        1        1        1  TRANSFER',
      'agent_xfer_post_time       2     6 µs     3 µs     3 µs     3 µs     3 µs  PERFORMANCE',
      'agent_xfer_time            2    24 µs    12 µs    12 µs    12 µs    12 µs  PERFORMANCE',
      'nixl-otel: 8 of 8 events printed, from 1 ring',
      '',
    ]);
    expect(plain.stderr).toBe('nixl-otel: 8 of 8 events printed, from 1 ring\n');
  });

  it('adds up several rings, and those that can be read beside one that cannot', async () => {
    const directory = temporaryDirectory();
    const files = ['a', 'b', 'none'].map((name) => path.join(directory, name));
    for (const file of files.slice(0, 2)) ring(file, 2).close();
    const { code, stdout, stderr } = await run(['read', '--summary', '--format', 'json', ...files]);
    expect(countsIn(stderr)).toEqual(printed(stdout));
    expect(countsIn(stderr)).toMatchObject({ agent_xfer_time: 4 });
    expect(code).toBe(3);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('comes at the end of --follow, by %s', async (signal) => {
    const file = path.join(temporaryDirectory(), 'agent');
    const writer = ring(file, 1);
    const reading = start(['read', '--follow', '--summary', '--format', 'json', file]);
    await reading.says(/agent_tx_requests_num/);
    writer.push({ type: 10, value: 1 });
    await reading.says(/agent_err_backend/);
    expect(reading.stderr).toBe('');
    const { code, stdout, stderr } = await reading.stop(signal);
    expect(countsIn(stderr)).toEqual(printed(stdout));
    expect(countsIn(stderr)).toMatchObject({ agent_err_backend: 1, agent_xfer_time: 1 });
    expect(code).toBe(0);
  });

  it('has no table if nothing was printed', async () => {
    const file = path.join(temporaryDirectory(), 'agent');
    ring(file, 1).close();
    const { stderr } = await run(['read', '--summary', '--errors', file]);
    expect(stderr).toBe('nixl-otel: 0 of 4 events printed, from 1 ring\n');
  });
});
