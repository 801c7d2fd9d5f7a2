/** prune: what it removes, what stays and why, and a kill while it works. */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { missingSights } from '../../src/shm-bridge/process-sight.js';
import { preloadable } from '../support/preload.js';
import { RingProcess } from '../support/ring-process.js';
import { run, type RunningCommand, scrape, start, temporaryDirectory, until, valueOf } from './command.js';

const TX_BYTES = 0;
const EVENTS = [{ type: TX_BYTES, value: 1000 }];

async function urlOf(serve: RunningCommand): Promise<string> {
  return (await serve.says(/http:\S+metrics/))[0];
}

/** Environment of a process whose wall clock is an hour ahead. */
function anHourLater(): NodeJS.ProcessEnv {
  const file = path.join(temporaryDirectory(), 'offset');
  writeFileSync(file, Buffer.alloc(8));
  const fd = openSync(file, 'r+');
  onTestFinished(() => closeSync(fd));
  writeSync(fd, new BigInt64Array([3600n]), 0, 8, 0);
  return { LD_PRELOAD: preloadable('wall-clock.c'), WALL_CLOCK_FILE: file };
}

/** Rings of an engine that were drained by a serve, which has died, and then the engine. */
async function leftBehind(names: readonly string[]): Promise<string> {
  const directory = temporaryDirectory();
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const url = await urlOf(serve);
  const engine = new RingProcess();
  for (const name of names) await engine.write({ path: path.join(directory, name), wireVersion: 4, events: EVENTS });
  await until(async () => {
    const page = await scrape(url);
    const bytes = names.map((name) => valueOf(page, 'agent_tx_bytes_total', `agent_name="${name}"`));
    const alive = valueOf(page, 'nixl_collector_agents', 'life="alive"');
    return bytes.every((one) => one === 1000) && alive === names.length;
  });
  // The process is in the state files by the next look at lives.
  await until(async () =>
    (
      await fetch(new URL('/api/v1/agents', url)).then((one) => one.json() as Promise<{ agents: { pid?: number }[] }>)
    ).agents.every(({ pid }) => pid === engine.pid),
  );
  await engine.write({ path: path.join(directory, names[0]!), wireVersion: 4, events: EVENTS });
  await until(async () => valueOf(await scrape(url), 'agent_tx_bytes_total', `agent_name="${names[0]}"`) === 2000);
  await serve.stop('SIGKILL');
  await engine.kill();
  return directory;
}

interface Line {
  agent: string;
  action: string;
  reason: string;
}

async function pruned(
  directory: string,
  flags: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<Map<string, Line>> {
  const { stdout, stderr, code } = await run(['prune', '--dir', directory, '--json', ...flags], env);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return new Map(lines.map((line) => [line.agent, line]));
}

it('removes rings of engines that ended, with --yes only, and says why others stay', async () => {
  const [ended, named, live, full] = [randomUUID(), 'decode-0', randomUUID(), randomUUID()];
  const directory = await leftBehind([ended, named]);
  const [engine, other] = [new RingProcess(), new RingProcess()];
  await engine.write({ path: path.join(directory, live), wireVersion: 4, events: [] });
  await other.write({ path: path.join(directory, full), wireVersion: 4, events: EVENTS });
  await other.kill();
  writeFileSync(path.join(directory, 'notes'), 'no ring');

  const young = await pruned(directory, []);
  expect(young.get(ended)).toMatchObject({ action: 'keep', reason: expect.stringContaining('630 s') as string });

  const later = anHourLater();
  const trial = await pruned(directory, [], later);
  expect(trial.get(ended)).toMatchObject({ action: 'remove' });
  expect(trial.get(named)).toMatchObject({
    action: 'keep',
    reason: expect.stringContaining('may open it again') as string,
  });
  expect(trial.get(live)).toMatchObject({ action: 'keep', reason: `process ${engine.pid} writes it` });
  expect(trial.get(full)).toMatchObject({ action: 'keep', reason: '1 events in it wait for a consumer' });
  expect(trial.get('notes')?.action).toBe('keep');
  const before = readdirSync(directory).sort();

  expect((await pruned(directory, ['--yes'], later)).get(ended)).toMatchObject({ action: 'removed' });
  const after = [...before.filter((name) => name !== ended)];
  expect(readdirSync(directory).sort()).toEqual(after);
  expect(readdirSync(path.join(directory, '.nixl-otel'))).not.toContain(ended);

  const forced = (await pruned(directory, ['--force', '--yes'], later)).get(named)!;
  // Only a process that sees all others knows that no agent has opened the name again.
  expect(forced.action).toBe(missingSights().length === 0 ? 'removed' : 'keep');
  const { stdout } = await run(['prune', '--dir', directory], later);
  expect(stdout).toMatch(/^AGENT +SIZE +WHAT +WHY\n/);
  expect(stdout).toMatch(/none of \d rings can be removed\n$/);
});

it('removes no ring of a serve that runs', async () => {
  const name = randomUUID();
  const directory = await leftBehind([name]);
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const url = await urlOf(serve);
  await until(async () => valueOf(await scrape(url), 'agent_tx_bytes_total', `agent_name="${name}"`) === 2000);
  expect((await pruned(directory, ['--yes'], anHourLater())).get(name)).toMatchObject({
    action: 'keep',
    reason: 'another consumer holds its lock',
  });
  expect(existsSync(path.join(directory, name))).toBe(true);
});

it('may be killed at any moment: the next serve counts what is left once', async () => {
  const names = Array.from({ length: 60 }, () => randomUUID());
  const directory = await leftBehind(names);
  const later = anHourLater();
  const left = (): string[] => readdirSync(directory).filter((name) => name !== '.nixl-otel');
  for (const goal of [45, 30, 15]) {
    const prune = start(['prune', '--dir', directory, '--yes'], later);
    void prune.ended.then(() => {});
    while (left().length > goal) await new Promise(setImmediate);
    await prune.stop('SIGKILL');
    if (left().length === 0) break;
  }
  const rest = left();
  const serve = start(['serve', '--dir', directory, '--port', '0', '--dead-ttl', '600000']);
  const url = await urlOf(serve);
  const page = await until(async () => {
    const text = await scrape(url);
    return rest.every((name) => text.includes(name)) ? text : undefined;
  });
  for (const name of names) {
    const bytes = valueOf(page, 'agent_tx_bytes_total', `agent_name="${name}"`);
    expect([name, bytes]).toEqual([name, rest.includes(name) ? (name === names[0] ? 2000 : 1000) : 0]);
  }
  await serve.stop();
});

it('serve removes them by itself if it is told to, once it has seen the end', async () => {
  const [directory, name] = [temporaryDirectory(), randomUUID()];
  const serve = start(['serve', '--dir', directory, '--port', '0', '--dead-ttl', '100', '--remove-ended-after', '200']);
  const url = await urlOf(serve);
  const [fresh, named] = [new RingProcess(), new RingProcess()];
  await fresh.write({ path: path.join(directory, name), wireVersion: 4, events: EVENTS });
  await named.write({ path: path.join(directory, 'decode-0'), wireVersion: 4, events: EVENTS });
  await until(async () => valueOf(await scrape(url), 'nixl_collector_agents', 'life="alive"') === 2);
  await Promise.all([fresh.kill(), named.kill()]);
  // An exporter reads the last values first.
  await until(async () => !(await scrape(url)).includes(name) && !existsSync(path.join(directory, name)));
  expect(existsSync(path.join(directory, 'decode-0'))).toBe(true);
});
