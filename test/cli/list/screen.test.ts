/** list on a real terminal, which `script` makes: tables of its width, and frames that replace each other. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import { MAIN, RunningCommand, temporaryDirectory, until } from '../command.js';

const NAMES = Array.from({ length: 20 }, (_, i) => `prefill-llama70b-tensor-parallel-${i}`);

/** Makes a directory with a path that is wider than the terminal. */
function fleet(): string {
  const directory = path.join(temporaryDirectory(), 'rings-of-a-host-with-a-long-name-and-a-number');
  mkdirSync(directory);
  for (const name of NAMES) new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 64 }).close();
  return directory;
}

/** Runs list on a terminal of 12 rows and 60 columns; its shell then prints the exit code. */
function onTerminal(...args: string[]): RunningCommand {
  const list = [process.execPath, MAIN, 'list', ...args].map((arg) => `'${arg}'`).join(' ');
  const command = `stty rows 12 cols 60; sh -c 'echo pid=$$; exec "$0" "$@"' ${list}; echo rc=$?`;
  return new RunningCommand('script', ['-qfc', command, '/dev/null'], { TERM: 'xterm' });
}

describe.skipIf(spawnSync('script', ['--version']).status !== 0)('nixl-otel list on a terminal', () => {
  it('cuts names in their middle, so that rows neither wrap nor look alike', async () => {
    const { stdout } = await onTerminal('--dir', fleet()).ended;
    const lines = stdout.split('\r\n').filter((line) => /^AGENT|^prefill/.test(line));
    expect(lines).toHaveLength(1 + NAMES.length);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines[3]).toMatch(/^prefill-ll\S*…\S*rallel-2 .* ready$/);
  });

  it('repaints one screen, says what has no room, and ends with 0', async () => {
    const list = onTerminal('--dir', fleet(), '--watch', '--interval', '100', '--sort', 'since');
    const [, pid] = await list.says(/pid=(\d+)/);
    await until(() => list.stdout.split('\x1b[H').length > 3);
    process.kill(Number(pid), 'SIGINT');
    await list.says(/rc=0/);
    const { stdout } = await list.ended;
    const [, ...frames] = stdout.split('\x1b[H');
    expect(stdout.split('\x1b[2J')).toHaveLength(2);
    for (const frame of frames) {
      const lines = frame.split('\x1b[J')[0]!.split('\x1b[K\r\n');
      expect(lines.pop()).toBe('');
      expect(lines).toHaveLength(11);
      expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d · 20 rings in /);
      expect(lines[1]).toMatch(/^AGENT .*SINCE +STATE$/);
      expect(lines[2]).toMatch(/^prefill.*-0 /);
      expect(lines[10]).toBe('12 more: --sort and --filter decide what is shown');
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    }
  });
});
