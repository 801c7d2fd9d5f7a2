/** Files that serve does not read, in its log, at /readyz and /metrics: each once, and many with their number. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { MAIN, RunningCommand, scrape, start, temporaryDirectory, until, valueOf } from './command.js';

function makeRings(directory: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const writer = new RingWriter(path.join(directory, `agent-${i}`), { wireVersion: 4, capacity: 64 });
    writer.push({ type: 0, value: 1 });
    writer.close();
  }
}

async function urlOf(serve: RunningCommand): Promise<string> {
  return (await serve.says(/serves (http:\S+) from/))[1]!;
}

it('counts a ring once whose directory has two names', async () => {
  const directory = temporaryDirectory();
  const link = path.join(temporaryDirectory(), 'link');
  symlinkSync(directory, link);
  makeRings(directory, 5);
  const first = start(['serve', '--dir', directory, '--port', '0']);
  await urlOf(first);
  const second = start(['serve', '--dir', directory, '--dir', link, '--port', '0']);
  const url = await urlOf(second);
  await until(async () => valueOf(await scrape(url), 'nixl_collector_problems', 'state="busy"') > 0);
  expect(valueOf(await scrape(url), 'nixl_collector_problems', 'state="busy"')).toBe(5);
  await second.says(/5 rings are busy, the first .*agent-\d: another consumer holds its lock/);
  expect(second.stderr.match(/ busy/g)).toHaveLength(1);
  expect(await (await fetch(new URL('/readyz', url))).text()).toMatch(
    /^ready, 0 agents; not read: 5 files\nwaits: 5 files, the first ".*agent-\d", are busy: another consumer holds its lock/,
  );
});

it('says once that descriptors are too few, and how many rings are not read', async () => {
  const directory = temporaryDirectory();
  makeRings(directory, 150);
  const limited = ['-c', `ulimit -n 256 && exec "$0" "$@"`, process.execPath, MAIN];
  const serve = new RunningCommand('sh', [...limited, 'serve', '--dir', directory, '--port', '0']);
  const url = await urlOf(serve);
  await serve.says(/86 rings are busy, the first .*: 64 rings are open, the limit/);
  expect(await (await fetch(new URL('/readyz', url))).text()).toMatch(
    /^ready, 64 agents; not read: 86 files\n(?:warning: .* is unseen: .*\n)?waits: 86 files, the first .* are busy: 64 rings are open, the limit: .*\n$/,
  );
  await serve.stop('SIGTERM');
  expect(serve.stderr.split('\n').length).toBeLessThan(8);
});

it('says that a directory was removed', async () => {
  const directory = path.join(temporaryDirectory(), 'rings');
  const absent = path.join(temporaryDirectory(), 'absent');
  mkdirSync(directory);
  makeRings(directory, 1);
  const serve = start(['serve', '--dir', directory, '--dir', absent, '--port', '0']);
  const url = await urlOf(serve);
  await until(async () => (await scrape(url)).includes('agent_tx_bytes_total{'));
  rmSync(directory, { recursive: true });
  const ready = async (): Promise<string> => (await fetch(new URL('/readyz', url))).text();
  await until(async () => (await ready()).includes(`"${directory}" is absent: it was removed`));
  expect(await ready()).toContain(`"${absent}" is absent: it does not exist yet`);
});
