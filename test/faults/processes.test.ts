/** Processes that are killed, compete for a ring or damage its file, while all numbers stay as exact as possible. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EVENTS } from '../../src/mapping/index.js';
import { inspectRing, openRing, RingWriter } from '../../src/shm-bridge/index.js';
import { scrape, start, startTransferSource, until, valueOf } from '../cli/command.js';
import { dist } from '../support/child.js';
import {
  allDrained,
  drainAll,
  drainUntil,
  drained,
  openTestSource,
  runTransferSource,
  temporaryDirectory,
} from '../support/live.js';

/** Starts a program that runs beside the test until it is killed. `onLine` gets its lines on stdout. */
function runBeside(program: string, arg: unknown, onLine: (line: string) => void = () => {}) {
  const source = `const arg = ${JSON.stringify(arg)};\n${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let rest = '';
  child.stdout.on('data', (text: Buffer) => {
    const lines = (rest + text.toString()).split('\n');
    rest = lines.pop()!;
    lines.forEach(onLine);
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = () => {
    child.kill('SIGKILL');
    return ended;
  };
  return { child, ended, kill };
}

/** 80,000 events a second in bursts of 800: a ring of 2^22 slots wraps after 52 s. */
const ENDLESS = ['--seconds', '0', '--rate', '20000', '--copy-free', '--staging', '0', '--flush-interval', '10'];

test('an agent killed with -9 in a burst: every event that reached its ring counts', async () => {
  const directory = temporaryDirectory();
  const source = openTestSource([directory]);
  for (const name of ['first', 'second', 'third']) {
    // The ring never wraps: afterwards its file still holds every written event.
    const flags = ['--name', name, '--exact-name', '--buffer-size', String(2 ** 22), ...ENDLESS];
    const agent = startTransferSource(['--dir', directory, ...flags]);
    const count = () => source.snapshot().agents.find(({ agent }) => agent === name)?.events ?? [];
    await until(() => (count()[0]?.count ?? 0) > 5000);
    await agent.stop('SIGKILL');
    await allDrained(directory);

    const bytes = readFileSync(path.join(directory, name));
    const written = Number(bytes.readBigUInt64LE(0));
    const sums = EVENTS.map(() => ({ count: 0, sum: 0n }));
    for (let at = 40; at < 40 + 16 * written; at += 16) {
      const sum = sums[bytes.readUInt32LE(at)]!;
      sum.count++;
      sum.sum += bytes.readBigUInt64LE(at + 8);
    }
    expect(written).toBeGreaterThan(20_000);
    expect(count().map(({ count, sum }) => ({ count, sum }))).toEqual(sums);
  }
  expect(source.snapshot().agents.some(({ suspect }) => suspect)).toBe(false);
});

test('a reader killed with -9 repeatedly: the next reader finds every event that was in the ring', async () => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'agent');
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 65_536 });
  onTestFinished(() => writer.close());
  let value = 0n;
  const write = (events: number) => {
    for (let i = 0; i < events; i++) expect(writer.push({ type: 0, value: ++value })).toBe(true);
  };
  const drainer = `
    const { openRing } = await import(${JSON.stringify(dist('shm-bridge/index.js'))});
    const ring = openRing(arg);
    for (;;) {
      // Small chunks, so that most kills come between them.
      for (const event of ring.drain(7)) console.log(String(event.value));
      await new Promise((resolve) => setImmediate(resolve));
    }`;
  for (let life = 0; life < 5; life++) {
    // A consumer cannot print so many events into a pipe before the test reads its output and kills it.
    write(30_000 - writer.pending);
    let lines = 0;
    const consumer = runBeside(drainer, file, () => {
      lines++;
      if (lines % 50 === 0) write(20);
      if (lines === 300) void consumer.kill();
    });
    await consumer.ended;
    expect(inspectRing(file)).toMatchObject({ state: 'ready', consumed: true });
  }
  const left = writer.pending;
  expect(left).toBeGreaterThan(0);
  write(10);
  const values = openRing(file)
    .drain()
    .map((event) => event.value);
  expect(values).toEqual(Array.from({ length: left + 10 }, (_, i) => value - BigInt(left + 9 - i)));
});

test('serve killed with -9 and restarted loses no event that was written before or in between', async () => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 1024 });
  for (let life = 0; life < 3; life++) {
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    const [url] = await serve.says(/http:\S+metrics/);
    for (let i = 0; i < 100; i++) expect(writer.push({ type: 0, value: 2n })).toBe(true);
    // Those of earlier lives, and 100 that were written between two of them.
    const expected = 400 * life + 200;
    await until(async () => valueOf(await scrape(url), 'agent_tx_bytes_total') === expected);
    await serve.stop('SIGKILL');
    for (let i = 0; i < 100; i++) expect(writer.push({ type: 0, value: 2n })).toBe(true);
    expect(writer.pending).toBe(100);
  }
});

test('a foreign consumer that ignores the lock is counted, and the exposition and the log mark the numbers as suspect', async () => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'agent');
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 1024 });
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const [url] = await serve.says(/http:\S+metrics/);
  writer.push({ type: 0, value: 1n });
  await until(async () => valueOf(await scrape(url), 'nixl_events_total') === 1);
  expect(valueOf(await scrape(url), 'nixl_ring_suspect')).toBe(0);
  // Drains as NIXL's own readers do: it takes all pending events and stores read_pos.
  const foreign = `
    import { closeSync, openSync, readSync, writeSync } from 'node:fs';
    const fd = openSync(arg, 'r+');
    const position = Buffer.alloc(8);
    for (;;) {
      readSync(fd, position, 0, 8, 0);
      writeSync(fd, position, 0, 8, 8);
    }`;
  const other = runBeside(foreign, file);
  await until(async () => {
    for (let i = 0; i < 50; i++) writer.push({ type: 0, value: 1n });
    return valueOf(await scrape(url), 'nixl_ring_foreign_moves_total') >= 3;
  });
  await other.kill();
  const page = await scrape(url);
  expect(valueOf(page, 'nixl_ring_suspect')).toBe(1);
  expect(valueOf(page, 'nixl_agent_restarts_total')).toBe(0);
  const before = valueOf(page, 'nixl_events_total');
  for (let i = 0; i < 10; i++) expect(writer.push({ type: 0, value: 1n })).toBe(true);
  await until(async () => valueOf(await scrape(url), 'nixl_events_total') === before + 10);
  const { stderr } = await serve.stop();
  expect(stderr.match(/may be wrong: another consumer drained it as well/g)).toHaveLength(1);
});

test('truncating and overwriting one ring thousands of times changes no number of another ring', async () => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'victim');
  const source = openTestSource([directory]);
  const vandal = `
    import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
    const { RingWriter } = await import(${JSON.stringify(dist('shm-bridge/index.js'))});
    const sizes = [0, 1, 17, 39, 40, 4096, 40 + 16 * 100, 40 + 16 * 4096, 2 ** 30, 2 ** 40];
    let seed = 1;
    const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
    for (let i = 0; ; i++) {
      if (random(3) === 0) {
        const writer = new RingWriter(arg, { wireVersion: 1 + random(5), capacity: 2 ** (1 + random(12)) });
        for (let n = random(200); n > 0; n--) writer.push({ type: random(30), name: 'name-' + n, value: 1n });
        writer.close();
      }
      truncateSync(arg, sizes[random(sizes.length)]);
      const fd = openSync(arg, 'r+');
      const bytes = Buffer.from(Array.from({ length: 8 }, () => random(256)));
      writeSync(fd, bytes, 0, random(9), random(600));
      closeSync(fd);
      if (i % 1000 === 999) console.log(i + 1);
    }`;
  let rounds = 0;
  new RingWriter(file, { wireVersion: 4, capacity: 16 }).close();
  const vandalism = runBeside(vandal, file, (line) => (rounds = Number(line)));
  await until(() => rounds > 0);
  const { totals } = await runTransferSource([
    '--dir',
    directory,
    '--seconds',
    '2',
    '--name',
    'healthy',
    '--exact-name',
  ]);
  await until(() => rounds >= 5000);
  await vandalism.kill();
  const of = (name: string) => ({
    ...source.snapshot(),
    agents: source.snapshot().agents.filter(({ agent }) => agent === name),
  });
  await until(() => drained(of('healthy')) >= totals.written);
  expect(drained(of('healthy'))).toBe(totals.written);

  // The damaged file is a ring again as soon as an agent uses it.
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 1024 });
  const isReady = () => !source.snapshot().problems.some((problem) => problem.path === file);
  await until(() => isReady() && inspectRing(file).consumed === true);
  const before = drained(of('victim'));
  for (let i = 0; i < 100; i++) expect(writer.push({ type: 0, value: 1n })).toBe(true);
  await until(() => drained(of('victim')) >= before + 100);
  expect(drained(of('victim')) - before).toBe(100);
});

test('random header bytes under load cause no crash, and a valid header makes the ring exact again', () => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'agent');
  const source = openTestSource([directory]);
  let seed = 7;
  const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 300; round++) {
    const writer = new RingWriter(file, { wireVersion: 1 + (round % 5), capacity: 64 });
    drainUntil(source, () => inspectRing(file).consumed === true);
    const before = drained(source.snapshot());
    for (let i = 0; i < 5; i++)
      expect(writer.push({ type: 0, name: 'agent_tx_bytes', category: 1, value: 1n })).toBe(true);
    drainAll(source, directory);
    expect(drained(source.snapshot()) - before).toBe(5);
    writer.close();
    const fd = openSync(file, 'r+');
    for (let i = 0; i < 4; i++) writeSync(fd, Buffer.from([random(256), random(256)]), 0, 1 + random(2), random(40));
    closeSync(fd);
    source.drainNow();
  }
});
