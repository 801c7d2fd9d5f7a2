/** Consumers of a ring: one process, with any number of sources. A second process reports busy and takes over later. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { openRing, RingWriter } from '../../src/shm-bridge/index.js';
import { scrape, start, until, valueOf } from '../cli/command.js';
import { dist, resultOf } from '../support/child.js';
import { allDrained, drainAll, drained, openTestSource, temporaryDirectory } from '../support/live.js';

/** Makes a ring. Returns a function that writes events of value 1 into it. */
function ringIn(directory: string, name = 'agent'): (events: number) => void {
  const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 1024 });
  return (events) => {
    for (let i = 0; i < events; i++) expect(writer.push({ type: 0, value: 1n })).toBe(true);
  };
}

test('a second process reports busy, drains nothing, and drains after the first is killed', async () => {
  const directory = temporaryDirectory();
  const write = ringIn(directory);
  const first = start(['serve', '--dir', directory, '--port', '0']);
  const [url] = await first.says(/http:\S+metrics/);
  write(100);
  const events = async () => valueOf(await scrape(url), 'nixl_events_total');
  await until(async () => (await events()) === 100);

  const second = openTestSource([directory]);
  await until(() => second.snapshot().problems.length > 0);
  expect(second.snapshot()).toMatchObject({
    agents: [],
    problems: [{ state: 'busy', path: path.join(directory, 'agent') }],
  });
  expect(() => openRing(path.join(directory, 'agent'))).toThrow('is busy: another consumer holds its lock');
  write(10);
  await until(async () => (await events()) === 110);

  await first.stop('SIGKILL');
  write(7);
  await allDrained(directory);
  // Each event was counted by one of the two.
  expect(drained(second.snapshot())).toBe(7);
  expect(second.snapshot()).toMatchObject({ problems: [], agents: [{ suspect: false }] });
});

test('a second serve beside a first reports busy in its exposition, counts nothing, and takes over', async () => {
  const directory = temporaryDirectory();
  const write = ringIn(directory);
  const serve = async () => {
    const command = start(['serve', '--dir', directory, '--port', '0']);
    const [url] = await command.says(/http:\S+metrics/);
    return { command, page: () => scrape(url) };
  };
  const events = (page: string) => valueOf(page, 'nixl_events_total');
  const first = await serve();
  write(100);
  await until(async () => events(await first.page()) === 100);

  const second = await serve();
  // It reports this even without a scrape.
  await second.command.says(/agent is busy: another consumer holds its lock/);
  const busy = async () => valueOf(await second.page(), 'nixl_collector_problems', 'state="busy"');
  await until(async () => (await busy()) === 1);
  write(10);
  await until(async () => events(await first.page()) === 110);
  expect(events(await second.page())).toBe(0);

  await first.command.stop('SIGKILL');
  write(7);
  await until(async () => events(await second.page()) >= 117);
  // It continues the counts of the first one.
  expect(events(await second.page())).toBe(117);
  await until(async () => (await busy()) === 0);
});

test('two sources in one process, on one directory and on different ones', () => {
  const [a, b] = [temporaryDirectory(), temporaryDirectory()];
  const [writeA, writeB] = [ringIn(a), ringIn(b)];
  const [first, second, both] = [openTestSource([a]), openTestSource([b]), openTestSource([a, b])];
  writeA(3);
  writeB(5);
  drainAll(both, a, b);
  expect([first, second, both].map((source) => drained(source.snapshot()))).toEqual([3, 5, 8]);
});

test('main thread and worker at once, by require() and by import, count each event once', async () => {
  const directory = temporaryDirectory();
  const result = await resultOf<Record<string, number>>(
    `
    import { readdirSync, readFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    import path from 'node:path';
    import { Worker } from 'node:worker_threads';
    const index = ${JSON.stringify(dist('shm-bridge/index.js'))};
    const mapping = ${JSON.stringify(dist('mapping/index.js'))};
    const { tallyOptions } = await import(mapping);
    const imported = await import(index);
    const required = createRequire(import.meta.url)(new URL(index).pathname);
    const writer = new imported.RingWriter(path.join(arg, 'agent'), { wireVersion: 4 });
    const options = { directories: [arg], tally: tallyOptions() };
    // Waits until it has so many: on a busy machine a requested drain may end before.
    const countOf = (source, events) => {
      for (;;) {
        source.drainNow();
        const count = source.snapshot().agents[0]?.events[0].count ?? 0;
        if (count >= events) return count;
      }
    };
    const one = imported.openSource(options);
    const other = required.openSource(options);
    const worker = new Worker(
      new URL('data:text/javascript,' + encodeURIComponent(\`
      import { parentPort } from 'node:worker_threads';
      import { openSource } from '\${index}';
      import { tallyOptions } from '\${mapping}';
      const source = openSource({ directories: [\${JSON.stringify(arg)}], tally: tallyOptions() });
      parentPort.on('message', (events) => parentPort.postMessage((\${countOf})(source, events)));
      parentPort.postMessage('ready');\`)),
    );
    const answer = () => new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    await answer();
    for (let i = 0; i < 50; i++) writer.push({ type: 0, value: 1n });
    worker.postMessage(50);
    const inWorker = await answer();
    const names = readdirSync('/proc/self/task').map((task) => readFileSync('/proc/self/task/' + task + '/comm', 'utf8'));
    const collectors = names.filter((name) => name.startsWith('nixl-otel')).length;
    await worker.terminate();
    for (let i = 0; i < 20; i++) writer.push({ type: 0, value: 1n });
    console.log(JSON.stringify({ collectors, inWorker, one: countOf(one, 70), other: countOf(other, 70) }));
    process.exit(0);
  `,
    directory,
  );
  expect(result).toEqual({ collectors: 1, inWorker: 50, one: 70, other: 70 });
});
