/** `opentelemetry-instrumentation-nixl/testing`: rings that a test writes in place of agents. */
import { existsSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { EVENTS } from '../src/mapping/index.js';
import { NixlMetricProducer } from '../src/index.js';
import { type TestEvent, TestRings, type TestRingsOptions } from '../src/testing.js';
import { openRing } from '../src/rings.js';
import { ROOT, RunningCommand, scrape as fetchPage, start, valueOf } from './cli/command.js';
import { scrape } from './instrumentation/readers.js';
import { WIRE_VERSIONS } from './support/rings.js';

const undo: (() => void)[] = [];
afterEach(() => {
  while (undo.length > 0) undo.pop()!();
});

function made(options?: TestRingsOptions): TestRings {
  const rings = new TestRings(options);
  undo.push(() => rings.close());
  return rings;
}

function producerOf({ directory }: TestRings): NixlMetricProducer {
  const producer = new NixlMetricProducer({ directories: directory, series: 'full' });
  undo.push(() => producer.close());
  return producer;
}

/** Runs the call and returns the code and the message of its error. */
async function refusal(call: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await call();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
  throw new Error('it was accepted');
}

describe.each(WIRE_VERSIONS)('events of wire version %i', (wireVersion) => {
  it('are counted as those of an agent', async () => {
    const rings = made({ wireVersion });
    const producer = producerOf(rings);
    rings.write('prefill/0', { bytes: 4096, timeUs: 120, postUs: 3 }, { error: 'backend' });
    rings.write('prefill/0', { bytes: 100n, timeUs: 40n, direction: 'rx' });
    rings.write('decode-0', { event: 'agent_memory_registered', value: 2 ** 30 }, { event: 0, value: 7 });
    await rings.counted();
    const page = await scrape(producer);
    const value = (name: string, label: string) => valueOf(page, name, label);
    const prefill = 'agent_name="prefill/0"';
    expect(value('agent_tx_bytes_total', prefill)).toBe(4096);
    expect(value('agent_rx_bytes_total', prefill)).toBe(100);
    expect(value('agent_tx_requests_num_total', prefill)).toBe(1);
    expect(value('agent_xfer_time_us_sum', prefill)).toBe(160);
    expect(value('agent_xfer_post_time_us_sum', prefill)).toBe(3);
    expect(value('agent_errors_total', prefill)).toBe(1);
    expect(value('agent_errors_total', 'status="backend"')).toBe(1);
    expect(value('nixl_transfer_size_sum', prefill)).toBe(4196); // their events are consecutive
    expect(value('agent_memory_registered_total', 'agent_name="decode-0"')).toBe(2 ** 30);
    expect(value('agent_tx_bytes_total', 'agent_name="decode-0"')).toBe(7);
    expect(value('nixl_events_unknown_total', '')).toBe(0);
  });

  it('are all of the event table', async () => {
    const rings = made({ wireVersion });
    for (const { event, type } of EVENTS) rings.write('agent', { event, value: type });
    const drained = openRing(path.join(rings.directory, 'agent')).drain();
    const found = drained.map(({ type, name, value }) => [type ?? name, value]);
    const stored = EVENTS.map(({ type, event, wireVersion1Name = event }) => [
      wireVersion === 1 ? wireVersion1Name : type,
      BigInt(type),
    ]);
    expect(found).toEqual(stored);
    if (wireVersion < 3)
      expect(drained.map(({ category }) => category)).toEqual(EVENTS.map(({ category }) => category));
    await rings.counted();
  });
});

it('writes names that NIXL does not have with wire version 1, and unknown types with the others', () => {
  const named = made({ wireVersion: 1 });
  named.write('backend', { event: 'queue_depth', value: 5, category: 'BACKEND' }, { event: 'hits', value: 2 });
  const events = openRing(path.join(named.directory, 'backend')).drain();
  expect(events).toMatchObject([
    { name: 'queue_depth', category: 3, value: 5n },
    { name: 'hits', category: 7, value: 2n },
  ]);
  const numbered = made();
  numbered.write('agent', { event: 21, value: 1 });
  expect(openRing(path.join(numbered.directory, 'agent')).drain()).toMatchObject([{ type: 21, value: 1n }]);
});

describe('refuses', () => {
  it.each<[events: unknown[], wireVersion: number, message: RegExp]>([
    [
      [null],
      4,
      /^events\[0\] is null; allowed: an object with bytes and timeUs, or with error, or with event and value$/,
    ],
    [[{ error: 'backend' }, {}], 4, /^events\[1\] is \{\}; allowed: an object/],
    [[{ bytes: 1, timeUs: 1, error: 'x' }], 4, /; allowed: an object with bytes and timeUs, or/],
    [[{ bytes: 1 }], 4, /^events\[0\]\.timeUs is undefined; allowed: a bigint or a whole number$/],
    [[{ bytes: -1, timeUs: 1 }], 4, /^events\[0\]\.bytes is -1; allowed: 0 to 2\^64 - 1$/],
    [[{ bytes: 1, timeUs: 1, postUs: 0.5 }], 4, /^events\[0\]\.postUs is 0\.5; allowed: a bigint or a whole number$/],
    [[{ bytes: 1, timeUs: 1, direction: 'up' }], 4, /^events\[0\]\.direction is "up"; allowed: tx, rx$/],
    [[{ error: 'broken' }], 4, /^events\[0\]\.error is "broken"; allowed: not_posted, .*, no_telemetry$/],
    [[{ event: 'agent_xfer_time' }], 4, /^events\[0\]\.value is undefined; allowed/],
    [
      [{ event: 'queue_depth', value: 1 }],
      4,
      /^events\[0\]\.event is "queue_depth"; allowed: .*wireVersion 1 has other/,
    ],
    [[{ event: -1, value: 1 }], 4, /^events\[0\]\.event is -1; allowed: whole numbers from 0 to 4294967295$/],
    [[{ event: 21, value: 1, category: 'BACKEND' }], 4, /^events\[0\]\.category is "BACKEND"; only names/],
    [
      [{ event: 'agent_tx_bytes', value: 1, category: 'BACKEND' }],
      1,
      /^events\[0\]\.category is "BACKEND"; only names/,
    ],
    [
      [{ event: 'x', value: 1, category: 'backend' }],
      1,
      /^events\[0\]\.category is "backend"; allowed: MEMORY, .*CUSTOM$/,
    ],
    [[{ event: 21, value: 1 }], 1, /^events\[0\]\.event is 21; allowed: names of at most 31 bytes$/],
    [[{ event: 'x'.repeat(32), value: 1 }], 1, /; allowed: names of at most 31 bytes$/],
  ])('%j with wire version %i, and writes nothing', async (events, wireVersion, message) => {
    const rings = made({ wireVersion });
    const refused = await refusal(() => rings.write('agent', { bytes: 1, timeUs: 1 }, ...(events as TestEvent[])));
    expect(refused.code).toBe('CONFIG_INVALID');
    expect(refused.message.replace(/events\[(\d)\]/, (_, n) => `events[${Number(n) - 1}]`)).toMatch(message);
    expect(existsSync(path.join(rings.directory, 'agent'))).toBe(false);
  });

  it.each(['', '..', '../agent', '/tmp/agent', 'a//b', 'a/b/c/d/e'])('the name %j of an agent', async (name) => {
    const { message } = await refusal(() => made().write(name, { error: 'backend' }));
    expect(message).toMatch(/^the name of the agent is ".*"; allowed: up to 4 file names, as in folder\/name$/);
  });

  it.each([
    [{ wireVersion: 6 }, 'wireVersion is 6; allowed: whole numbers from 1 to 5'],
    [{ capacity: 0 }, 'capacity is 0; allowed: whole numbers from 2 to 16777216'],
    [{ capacity: 1000 }, 'capacity is 1000; allowed: powers of two from 2 to 16777216'],
    [{ slots: 64 }, 'options has "slots", which is unknown; there are wireVersion, capacity'],
  ])('the options %j', async (options, message) => {
    expect(await refusal(() => made(options as TestRingsOptions))).toEqual({ code: 'CONFIG_INVALID', message });
  });

  it('an agent in a folder with the name of an agent', async () => {
    const rings = made();
    rings.write('a', { bytes: 1, timeUs: 1 });
    const { code, message } = await refusal(() => rings.write('a/b', { bytes: 1, timeUs: 1 }));
    expect(code).toBe('RING_WRITE_FAILED');
    expect(message).toMatch(/^EEXIST: .*\/a'$/);
  });

  it('more events than the ring holds', async () => {
    const rings = made({ capacity: 4 });
    const { code, message } = await refusal(() => rings.write('agent', { bytes: 1, timeUs: 1 }));
    expect(code).toBe('RING_WRITE_FAILED');
    expect(message).toBe('the ring of agent is full: await counted() earlier, or give more capacity');
  });
});

describe('counted()', () => {
  it('waits for a reader in another process', async () => {
    const rings = made();
    rings.write('agent', { bytes: 4096, timeUs: 120 });
    const serve = start(['serve', '--dir', rings.directory, '--port', '0']);
    undo.push(() => serve.child.kill('SIGKILL'));
    await rings.counted(120_000);
    const [, url] = await serve.says(/serves (\S+)/);
    expect(valueOf(await fetchPage(url!), 'agent_tx_bytes_total')).toBe(4096);
  });

  it('rejects without a reader, and names what to do', async () => {
    const rings = made();
    rings.write('a/b/c/agent', { bytes: 1, timeUs: 1 });
    const { code, message } = await refusal(() => rings.counted(0));
    expect(code).toBe('RING_NOT_DRAINED');
    expect(message).toBe(
      'the ring of a/b/c/agent still has 4 events after 0 ms: no reader drains it; ' +
        `give ${rings.directory} to a reader before counted()`,
    );
  });

  it('rejects when the ring is lost', async () => {
    const rings = made();
    rings.write('agent', { bytes: 1, timeUs: 1 });
    truncateSync(path.join(rings.directory, 'agent'), 0);
    const { code, message } = await refusal(() => rings.counted(0));
    expect(code).toBe('RING_NOT_DRAINED');
    expect(message).toMatch(/^the ring of agent still has 0 events after 0 ms: it is \w+: /);
  });

  it('resolves without events', async () => {
    await made().counted(0);
  });
});

describe('the directory', () => {
  it('is removed by close(), after which nothing can be written', async () => {
    const rings = new TestRings();
    rings.write('folder/agent', { error: 'backend' });
    expect(existsSync(rings.directory)).toBe(true);
    rings.close();
    rings.close();
    expect(existsSync(rings.directory)).toBe(false);
    for (const name of ['folder/agent', 'another']) {
      expect((await refusal(() => rings.write(name, { error: 'backend' }))).code).toBe('RING_CLOSED');
    }
  });

  it('is removed at exit', async () => {
    const code = `import { TestRings } from '${path.join(ROOT, 'dist/testing.js')}';
      const closed = new TestRings(); const [a, b] = [new TestRings(), new TestRings()]; closed.close();
      a.write('agent', { error: 'backend' }); console.log(a.directory, b.directory);`;
    const args = ['--input-type=module', '--eval', code];
    const { stdout, stderr } = await new RunningCommand(process.execPath, args).ended;
    expect(stderr).toBe('');
    const directories = stdout.trim().split(' ');
    expect(directories).toHaveLength(2);
    for (const directory of directories) expect(existsSync(directory)).toBe(false);
  });
});
