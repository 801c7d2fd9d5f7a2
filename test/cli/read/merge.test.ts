/** `read` of several rings: the order of times, times of arrival, units, and a stdout that has nothing but events. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectRing, RingWriter } from '../../../src/shm-bridge/index.js';
import { type RunningCommand, start, temporaryDirectory, until } from '../command.js';
import { runHere } from '../in-process.js';

const AT = 1_700_000_000_123_456n; // 2023-11-14 22:13:20.123456 UTC

interface Line {
  agent: string;
  timestamp?: string;
  arrived?: string;
  event: string;
  value: number;
  unit?: string;
}

function linesOf(stdout: string): Line[] {
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1).split('\n');
  return whole.filter(Boolean).map((line) => JSON.parse(line) as Line);
}

async function hasLines(reading: RunningCommand, count: number): Promise<Line[]> {
  await until(() => linesOf(reading.stdout).length >= count);
  return linesOf(reading.stdout);
}

/** Makes rings of wire version 1, whose events have these offsets from AT in microseconds as times and values. */
function timedRings(offsets: Readonly<Record<string, readonly bigint[]>>): string[] {
  const directory = temporaryDirectory();
  return Object.entries(offsets).map(([agent, all]) => {
    const writer = new RingWriter(path.join(directory, agent), { wireVersion: 1, capacity: 64 });
    for (const us of all) {
      writer.push({ timestampUs: AT + us, category: 5, name: 'agent_xfer_time', value: us });
    }
    writer.close();
    return writer.path;
  });
}

function untimedRing(...values: number[]): RingWriter {
  const writer = new RingWriter(path.join(temporaryDirectory(), 'agent'), { wireVersion: 4, capacity: 64 });
  for (const value of values) writer.push({ type: 6, value });
  return writer;
}

describe('the events of several rings', () => {
  const OFFSETS = { a: [1n, 4n, 6n], b: [2n, 3n, 900_000n], c: [5n] };
  const ORDER = [1, 2, 3, 4, 5, 6, 900_000];

  it.each([[[]], [['--consume']]])('come in the order of their times %j', async (flags) => {
    const files = timedRings(OFFSETS);
    const { code, stdout } = await runHere(['read', '--format', 'json', ...flags, ...files]);
    const lines = linesOf(stdout);
    expect(lines.map(({ value }) => value)).toEqual(ORDER);
    expect(lines.map(({ agent }) => agent).join('')).toBe('abbacab');
    expect(lines[0]!.timestamp).toBe('2023-11-14T22:13:20.123457Z');
    expect(lines.at(-1)!.timestamp).toBe('2023-11-14T22:13:21.023456Z');
    expect(code).toBe(0);
  });

  it('come in this order with --follow, too, and the rest comes at the end', async () => {
    const files = timedRings(OFFSETS);
    const reading = start(['read', '--follow', '--format', 'json', ...files]);
    expect((await hasLines(reading, 7)).map(({ value }) => value)).toEqual(ORDER);
    const writer = new RingWriter(files[0]!, { wireVersion: 1, capacity: 64 });
    writer.push({ timestampUs: BigInt(Date.now()) * 1000n, category: 5, name: 'agent_xfer_time', value: 77n });
    const [last] = (await hasLines(reading, 8)).slice(7);
    expect(last).toMatchObject({
      agent: 'a',
      value: 77,
      timestamp: expect.stringMatching(/^20\d\d-.*T.*Z$/) as string,
    });
    expect(await reading.stop()).toMatchObject({ code: 0 });
  });

  it('that wait for others at the end are printed', async () => {
    const future = 10n ** 15n;
    const files = timedRings({ a: [future, future + 1n], b: [future + 2n] });
    const reading = start(['read', '--follow', '--consume', '--format', 'json', ...files]);
    await until(() => files.every((file) => inspectRing(file).pending === 0));
    const { code, stdout } = await reading.stop();
    expect(linesOf(stdout)).toHaveLength(3);
    expect(code).toBe(0);
  });

  it('are as many as asked for, and the earliest ones', async () => {
    const { stdout, stderr } = await runHere(['read', '--format', 'json', '--max-events', '4', ...timedRings(OFFSETS)]);
    expect(linesOf(stdout).map(({ value }) => value)).toEqual(ORDER.slice(0, 4));
    expect(stderr).toContain('4 of 7 events printed, from 3 rings');
  });
});

describe('events without a time', () => {
  it('have none in a snapshot, and none with --follow if they were there before', async () => {
    const writer = untimedRing(1);
    const snapshot = linesOf((await runHere(['read', '--format', 'json', writer.path])).stdout);
    const line = { agent: 'agent', category: 'PERFORMANCE', event: 'agent_xfer_time', value: 1 };
    expect(snapshot).toEqual([line]);
    const reading = start(['read', '--follow', '--format', 'json', writer.path]);
    expect(await hasLines(reading, 1)).toEqual([line]);
    const beforeMs = Date.now();
    writer.push({ type: 6, value: 2 });
    const [, second] = await hasLines(reading, 2);
    const { arrived, ...rest } = second!;
    expect(rest).toEqual({ ...line, value: 2 });
    expect(arrived).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(arrived!)).toBeGreaterThanOrEqual(beforeMs);
    expect(Date.parse(arrived!)).toBeLessThanOrEqual(Date.now());
    await reading.stop();
  });

  it.each([
    [
      'text',
      /\n=== NIXL Telemetry Event ===\nCategory: .*\nEvent: .*\nValue: 1\n/,
      /\nArrived: \d{4}-\S+ \S+\nCategory: /,
    ],
    ['line', /^- agent PERFORMANCE agent_xfer_time 1\n/, /\n~\d{4}-\S+ \S+ agent PERFORMANCE agent_xfer_time 2\n/],
    ['csv', /\nagent,,,PERFORMANCE,agent_xfer_time,1\n/, /\nagent,,\d{4}-\S+ \S+,PERFORMANCE,agent_xfer_time,2\n/],
  ])('are marked as arrived in %s', async (format, before, after) => {
    const writer = untimedRing(1);
    const reading = start(['read', '--follow', '--format', format, writer.path]);
    await reading.says(/[ ,]1\n/);
    writer.push({ type: 6, value: 2 });
    await reading.says(/[ ,]2\n/);
    const { stdout } = await reading.stop();
    expect(stdout).toMatch(before);
    expect(stdout).toMatch(after);
  });
});

describe('units', () => {
  it('are printed only with --units, and leave the value in JSON as it is', async () => {
    const [file] = timedRings({ a: [20_000n] });
    const block = (await runHere(['read', file!])).stdout;
    expect(block).toContain('Value: 20000\n');
    expect((await runHere(['read', '--units', file!])).stdout).toBe(block.replace('20000\n', '20000 us\n'));
    const [raw] = linesOf((await runHere(['read', '--format', 'json', file!])).stdout);
    const [withUnit] = linesOf((await runHere(['read', '--format', 'json', '--units', file!])).stdout);
    expect(raw).not.toHaveProperty('unit');
    expect(withUnit).toEqual({ ...raw, unit: 'us' });
    const { stdout } = await runHere(['read', '--utc', '--format', 'csv', '--units', file!]);
    expect(stdout).toBe(
      'agent,timestamp,arrived,category,event,value,unit\n' +
        'a,2023-11-14 22:13:20.143456Z,,PERFORMANCE,agent_xfer_time,20000,us\n',
    );
  });
});

it('stdout has one line per event in JSON, whatever happens to the rings', async () => {
  const directory = temporaryDirectory();
  const at = (name: string): string => path.join(directory, name);
  const make = (name: string, ...values: number[]): void => {
    const writer = new RingWriter(at(name), { wireVersion: 4, capacity: 64 });
    for (const value of values) writer.push({ type: 0, value });
    writer.close();
  };
  make('restarts', 1, 1, 1);
  make('replaced', 2);
  make('deleted', 3);
  writeFileSync(at('text'), 'a text that is no ring, and long enough to be seen as one that is none');
  const files = ['restarts', 'replaced', 'deleted', 'text', 'absent'].map(at);
  const reading = start(['read', '--follow', '--summary', '--format', 'json', ...files]);
  await hasLines(reading, 5);
  make('restarts', 4);
  rmSync(at('replaced'));
  make('replaced', 5);
  rmSync(at('deleted'));
  make('absent', 6);
  await hasLines(reading, 8);
  for (const event of ['restarted', 'was replaced', 'was deleted', 'absent can be read again']) {
    await reading.says(new RegExp(event));
  }
  const { stdout, code } = await reading.stop();
  // linesOf() refuses a line that is not JSON.
  expect(stdout.endsWith('\n')).toBe(true);
  expect(
    linesOf(stdout)
      .map(({ value }) => value)
      .sort(),
  ).toEqual([1, 1, 1, 2, 3, 4, 5, 6]);
  expect(code).toBe(4);
});
