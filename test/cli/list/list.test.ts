/** list, on real rings in real processes. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectRing, RingWriter } from '../../../src/shm-bridge/index.js';
import { MAIN, RunningCommand, start, startTransferSource, temporaryDirectory, until } from '../command.js';
import { runHere } from '../in-process.js';

const OTHER_PIDS = ['--pid', '--fork', '--mount-proc'];
const mayUnshare = spawnSync('unshare', [...OTHER_PIDS, 'true']).status === 0;

/** Makes a ring of 64 slots with so many events. Returns its path. */
function ring(directory: string, agent: string, events: number): string {
  const file = path.join(directory, agent);
  mkdirSync(path.dirname(file), { recursive: true });
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 64 });
  for (let i = 0; i < events; i++) writer.push({ type: 0, value: 1 });
  writer.close();
  return file;
}

/** Returns the names of agents in JSON or in a table, in order. */
function namesIn(stdout: string): string[] {
  const lines = stdout.split('\n').filter(Boolean);
  if (stdout.startsWith('{')) return lines.map((line) => (JSON.parse(line) as { agent: string }).agent);
  return lines.slice(1).map((line) => line.split(/ {2,}/)[0]!);
}

describe('nixl-otel list', () => {
  it('shows each ring, its writer and its consumer', async () => {
    const directory = temporaryDirectory();
    const source = startTransferSource([
      '--dir',
      directory,
      '--exact-name',
      '--name',
      'busy/one',
      '--seconds',
      '0',
      '--ready',
    ]);
    await source.says(/ready/);
    writeFileSync(path.join(directory, 'notes.txt'), 'a text, longer than the header of a ring, in the same folder');
    ring(directory, 'agent', 3);
    const rows = async () => {
      const { stdout } = await runHere(['list', '--json', '--dir', directory]);
      return stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    };
    expect(await rows()).toMatchObject([
      { agent: 'agent', state: 'ready', wireVersion: 4, capacity: 64, pending: 3, held: false },
      { agent: 'busy/one', state: 'ready', wireVersion: 4, pid: source.child.pid },
      { agent: 'notes.txt', state: 'corrupt' },
    ]);
    // The age does not begin at the last write.
    const { birthtimeMs } = statSync(path.join(directory, 'agent'));
    utimesSync(path.join(directory, 'agent'), new Date(), new Date());
    const askedMs = Date.now();
    const { stdout: twice } = await runHere(['list', '--json', '--dir', directory, '--dir', `${directory}/`]);
    const again = twice.trim().split('\n');
    expect(again).toHaveLength(3);
    const { ageMs } = JSON.parse(again[0]!) as { ageMs: number };
    expect(Math.abs(Date.now() - ageMs - birthtimeMs)).toBeLessThan(10_000);
    // Before that run, another one has ended since the birth: an age since the write would be shorter by its time.
    expect(ageMs).toBeGreaterThanOrEqual(Math.floor(askedMs - birthtimeMs));
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    await serve.says(/serves/);
    await expect.poll(async () => (await rows())[0]).toMatchObject({ held: true, pending: 0 });
    const nothing = await runHere(['read', path.join(directory, 'agent')]);
    expect(nothing.stderr).toMatch(/0 of 0 events .*\n.*a collector drains these rings; --follow/);
    // serve maps rings as agents do, but is not their writer.
    const [left, busy] = await rows();
    expect([left!['pid'], busy!['pid']]).toEqual([undefined, source.child.pid]);
    const { stdout } = await runHere(['list', '--dir', directory]);
    expect(stdout).toMatch(/^AGENT +WIRE +SLOTS +PENDING +FILL/);
    expect(stdout).toMatch(/^busy\/one +4 +4096 .* ready, held$/m);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('shows no consumer once serve has ended by %s', async (signal) => {
    const directory = temporaryDirectory();
    const file = ring(directory, 'agent', 3);
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    await serve.says(/serves/);
    const row = async () => JSON.parse((await runHere(['list', '--json', '--dir', directory])).stdout) as object;
    await until(async () => ((await row()) as { pending: number }).pending === 0);
    expect(await row()).toMatchObject({ held: true });
    await serve.stop(signal);
    expect(inspectRing(file).consumed).toBe(true); // the mark stays
    expect(await row()).toMatchObject({ held: false });
    expect((await runHere(['list', '--dir', directory])).stdout).toMatch(/ ready$/m);
    expect((await runHere(['read', file])).stderr).not.toContain('a collector drains');
  });

  it.skipIf(!mayUnshare)('does not claim to see consumers of another PID namespace', async () => {
    const directory = temporaryDirectory();
    ring(directory, 'agent', 3);
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    await serve.says(/serves/);
    await until(async () => /^agent .* ready, held$/m.test((await runHere(['list', '--dir', directory])).stdout));
    const elsewhere = async (...flags: string[]) =>
      new RunningCommand('unshare', [...OTHER_PIDS, process.execPath, MAIN, 'list', '--dir', directory, ...flags])
        .ended;
    expect((await elsewhere()).stdout).toMatch(/^agent .* ready, held\?$/m);
    expect(JSON.parse((await elsewhere('--json')).stdout)).not.toHaveProperty('held');
    await serve.stop('SIGTERM');
    ring(directory, 'agent', 3); // another incarnation, without a mark
    expect((await elsewhere()).stdout).toMatch(/^agent .* ready$/m);
  });

  it('aligns its columns below names of any script', async () => {
    const directory = temporaryDirectory();
    for (const name of ['a', '模型-0', '🚀🚀🚀🚀']) {
      ring(directory, name, 0);
    }
    const { stdout } = await runHere(['list', '--dir', directory]);
    const lines = stdout.trimEnd().split('\n');
    // The last names need eight columns of a terminal each, two for every emoji.
    expect(lines.map((line) => line.slice(0, line.search(/ (WIRE|4) /)))).toEqual([
      'AGENT    ',
      'a           ',
      '模型-0      ',
      '🚀🚀🚀🚀    ',
    ]);
  });

  it('does not report an observing process as the writer', async () => {
    const file = ring(temporaryDirectory(), 'agent', 3);
    const reading = start(['read', '--follow', file]);
    await reading.says(/Value/);
    const { stdout } = await runHere(['list', '--json', '--dir', path.dirname(file)]);
    const row = JSON.parse(stdout) as object;
    expect(row).toMatchObject({ agent: 'agent', state: 'ready' });
    expect(row).not.toHaveProperty('pid');
    expect(readFileSync(`/proc/${reading.child.pid}/maps`, 'utf8')).toMatch(new RegExp(` r--s .*${file}`));
    await reading.stop();
  });

  it('reports the kind of problem by its exit code', async () => {
    const directory = temporaryDirectory();
    expect((await runHere(['list'])).code).toBe(2);
    expect((await runHere(['list', '--dir', directory])).code).toBe(3);
    writeFileSync(path.join(directory, 'x'), 'no ring');
    expect((await runHere(['list', '--dir', directory])).code).toBe(4);
    writeFileSync(path.join(directory, 'a'), ''); // not yet a ring
    expect((await runHere(['list', '--dir', directory])).code).toBe(3);
  });
});

describe('the order of list', () => {
  /** Rings of three ages, fills and states. */
  function fleet(): string {
    const directory = temporaryDirectory();
    for (const [agent, events] of [
      ['a-10', 1],
      ['a-2', 63],
      ['a-1', 7],
      ['a-9/b-3', 0],
      ['a-9/b-20', 2],
    ] as const) {
      ring(directory, agent, events);
    }
    writeFileSync(path.join(directory, 'a-3'), 'a text that is no ring, and long enough to be seen as one');
    return directory;
  }
  const NUMERIC = ['a-1', 'a-2', 'a-3', 'a-9/b-3', 'a-9/b-20', 'a-10'];

  it.each<[flags: string[], names: string[]]>([
    [[], NUMERIC],
    [['--sort', 'agent'], NUMERIC],
    [
      ['--sort', 'fill'],
      ['a-2', 'a-1', 'a-9/b-20', 'a-10', 'a-9/b-3', 'a-3'],
    ],
    [
      ['--sort', 'pending'],
      ['a-2', 'a-1', 'a-9/b-20', 'a-10', 'a-9/b-3', 'a-3'],
    ],
    [
      ['--sort', 'state'],
      ['a-3', 'a-1', 'a-2', 'a-9/b-3', 'a-9/b-20', 'a-10'],
    ],
    [
      ['--sort', 'wire'],
      ['a-1', 'a-2', 'a-9/b-3', 'a-9/b-20', 'a-10', 'a-3'],
    ],
    [
      ['--filter', 'B-'],
      ['a-9/b-3', 'a-9/b-20'],
    ],
    [['--filter', 'a-?'], NUMERIC],
    [['--filter', 'a-?0'], ['a-10']],
    [
      ['--filter', 'A-1*', '--sort', 'fill'],
      ['a-1', 'a-10'],
    ],
    [
      ['--filter', '*-?'],
      ['a-1', 'a-2', 'a-3', 'a-9/b-3'],
    ],
  ])('of a fleet with %j', async (flags, names) => {
    const directory = fleet();
    for (const more of [[], ['--json']]) {
      const { code, stdout } = await runHere(['list', '--dir', directory, ...flags, ...more]);
      expect(namesIn(stdout)).toEqual(names);
      expect(code).toBe(0);
    }
  });

  it('is that of age, in several directories', async () => {
    const directories = [temporaryDirectory(), temporaryDirectory()];
    const [oldest] = directories;
    ring(oldest!, 'z', 0);
    // Birth times need a clock that has moved on.
    await until(() => Date.now() - statSync(path.join(oldest!, 'z')).birthtimeMs > 20);
    ring(directories[1]!, 'y', 0);
    const flags = ['list', '--dir', directories[1]!, '--dir', oldest!, '--json'];
    expect(namesIn((await runHere(flags)).stdout)).toEqual(['y', 'z']);
    expect(namesIn((await runHere([...flags, '--sort', 'age'])).stdout)).toEqual(['z', 'y']);
  });

  it('has the share of the slots that can be filled as FILL, as in top', async () => {
    const { stdout } = await runHere(['list', '--dir', fleet()]);
    expect(stdout).toMatch(/^a-2 +4 +64 +63 +100% /m);
    expect(stdout).toMatch(/^a-1 +4 +64 +7 +11% /m);
    expect(stdout).toMatch(/^a-9\/b-3 +4 +64 +0 +0% /m);
    expect(stdout).toMatch(/^a-3( +-){6} .* corrupt: /m);
  });

  it.each<[flags: string[], allowed: string]>([
    [['--sort', 'size'], "'size' is invalid. Allowed choices are agent, engine, wire, slots, pending, fill, write,"],
    [['--filter', ''], 'Allowed: a part of a name'],
    [['--interval', '200'], '--interval needs --watch'],
    [['--watch', '--interval', '99'], 'a whole number, from 100 to 3600000'],
  ])('%j is refused', async (flags, allowed) => {
    const { code, stdout, stderr } = await runHere(['list', '--dir', '/tmp', ...flags]);
    expect(stderr).toContain(allowed);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('ends with 3 if no name matches the filter', async () => {
    const { code, stderr } = await runHere(['list', '--dir', fleet(), '--filter', 'none']);
    expect(stderr).toMatch(/no rings that match none in \//);
    expect(code).toBe(3);
  });
});

describe('nixl-otel list --watch', () => {
  const FAST = ['--watch', '--interval', '100'];

  it.each(['SIGINT', 'SIGTERM'] as const)('prints a block per interval on a pipe, until %s', async (signal) => {
    const directory = temporaryDirectory();
    ring(directory, 'a-1', 3);
    const list = start(['list', '--dir', directory, ...FAST]);
    await list.says(/ 1 ring in (.|\n)* 1 ring in /);
    ring(directory, 'a-0', 0);
    await list.says(/ 2 rings in /);
    const { code, stdout, stderr } = await list.stop(signal);
    const blocks = stdout.trimEnd().split('\n\n');
    expect(blocks[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d · 1 ring in \S+\nAGENT .*\na-1 +4 +64 +3 +5% .* ready$/);
    expect(blocks.at(-1)).toMatch(/ · 2 rings in \S+\nAGENT .*\na-0 .*\na-1 .*$/);
    expect(stdout).not.toContain('\x1b');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('prints one object per ring and interval as JSON, and nothing else', async () => {
    const directory = temporaryDirectory();
    for (const agent of ['a-1', 'a-0']) ring(directory, agent, 3);
    const list = start(['list', '--dir', directory, '--json', ...FAST]);
    await until(() => list.stdout.split('\n').length > 4);
    const { code, stdout } = await list.stop();
    const rows = stdout.trimEnd().split('\n');
    const parsed = rows.map((line) => JSON.parse(line) as { agent: string; takenMs: number; pending: number });
    expect(parsed.slice(0, 4).map(({ agent }) => agent)).toEqual(['a-0', 'a-1', 'a-0', 'a-1']);
    expect(parsed[2]!.takenMs).toBeGreaterThan(parsed[0]!.takenMs);
    expect(code).toBe(0);
  });

  it('waits for a directory and for rings, and reports what is missing once', async () => {
    const directory = path.join(temporaryDirectory(), 'rings');
    const list = start(['list', '--dir', directory, ...FAST]);
    await list.says(/ 0 rings in (.|\n)* 0 rings in /);
    ring(directory, 'a', 1);
    await list.says(/^a +4 /m);
    rmSync(directory, { recursive: true });
    const { code, stderr } = await list.stop();
    expect(stderr.split('it does not exist').length).toBe(2);
    expect(code).toBe(0);
  });

  it('ends without an error when the reader of its output ends', async () => {
    const directory = temporaryDirectory();
    ring(directory, 'a', 1);
    const list = start(['list', '--dir', directory, ...FAST]);
    await list.says(/ready/);
    list.child.stdout!.destroy();
    expect(await list.ended).toMatchObject({ code: 0, stderr: '' });
  });
});
