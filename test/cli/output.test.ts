/** A full disk below stdout or stderr: /dev/full accepts no bytes. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { ROOT, RunningCommand, scrape, temporaryDirectory } from './command.js';

const MAIN = path.join(ROOT, 'dist/cli/main.js');

function startInto(redirection: string, args: readonly string[]): RunningCommand {
  return new RunningCommand('/bin/sh', ['-c', `exec "$0" "$@" ${redirection}`, process.execPath, MAIN, ...args]);
}

function directoryWithRing(): string {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
  writer.push({ type: 0, value: 1n });
  writer.close();
  return directory;
}

const PROBLEM = /stdout cannot be written: .*ENOSPC.*/g;

describe('if stdout cannot be written', () => {
  it('serve reports it once and continues', async () => {
    const flags = ['--exporter', 'prometheus,console', '--export-interval', '20', '--port', '0'];
    const serve = startInto('>/dev/full', ['serve', '--dir', directoryWithRing(), ...flags]);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await serve.says(PROBLEM);
    for (let i = 0; i < 5; i++) expect(await scrape(url!)).toContain('nixl_collector_ticks');
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stderr.match(PROBLEM)).toHaveLength(1);
    expect(stderr).not.toContain('    at ');
  });

  it('read does not report its events as printed', async () => {
    const { stderr } = await startInto('>/dev/full', ['read', path.join(directoryWithRing(), 'agent')]).ended;
    expect(stderr).toContain('not all of 1 events could be printed, from 1 ring');
    expect(stderr).not.toContain('1 of 1');
  });

  it.each([
    [['read', 'agent']],
    [['read', '--follow', 'agent']],
    [['top', '--dir', '.', '--json', '--interval', '100']],
    [['list', '--dir', '.']],
    [['config', 'schema']],
    [['--help']],
  ])('%j ends with one line and exit code 1', async (args) => {
    const directory = directoryWithRing();
    const placed = args.map((arg) => (arg === 'agent' ? path.join(directory, arg) : arg === '.' ? directory : arg));
    const { code, stderr } = await startInto('>/dev/full', placed).ended;
    expect(stderr.match(PROBLEM)).toHaveLength(1);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(1);
  });
});

it('serve continues if its notes cannot be written', async () => {
  const flags = ['--exporter', 'console', '--export-interval', '20', '--log-level', 'debug'];
  const serve = startInto('2>/dev/full', ['serve', '--dir', directoryWithRing(), ...flags]);
  await serve.says(/agent_tx_bytes(.|\n)*agent_tx_bytes/);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
});

it('a command that fails loses no output if its reader is slow', async () => {
  const directory = temporaryDirectory();
  // More than pipes and sockets hold: doctor names all files that are no rings.
  for (let i = 0; i < 4000; i++) writeFileSync(path.join(directory, `${i}-${'x'.repeat(200)}`), 'no ring');
  const doctor = new RunningCommand(process.execPath, [MAIN, 'doctor', '--json', '--dir', directory]);
  doctor.child.stdout!.pause();
  await doctor.says(/error: \d+ problem/);
  doctor.child.stdout!.resume();
  const { code, stdout } = await doctor.ended;
  expect(code).toBe(1);
  expect(stdout.length).toBeGreaterThan(800_000);
  for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('finding');
});
