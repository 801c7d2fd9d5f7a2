/** A directory that another user may list but not enter: only the names of its files are visible. */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { MAY_BE_NOBODY, startAsNobody } from '../support/as-nobody.js';
import { temporaryDirectory } from './command.js';

function directoryWithRings(): string {
  const directory = temporaryDirectory();
  for (const name of ['a', 'b']) {
    const writer = new RingWriter(path.join(directory, name), { wireVersion: 4 });
    writer.push({ type: 0, value: 1n });
    writer.close();
    chmodSync(path.join(directory, name), 0o644);
  }
  return directory;
}

describe.skipIf(!MAY_BE_NOBODY)('a directory without permission to enter', () => {
  it('causes one warning of list, which shows the names', async () => {
    const directory = directoryWithRings();
    chmodSync(directory, 0o644);
    const { code, stdout, stderr } = await startAsNobody(['list', '--dir', directory]).ended;
    expect(stdout).toMatch(/^a .*denied/m);
    expect(stdout).toMatch(/^b .*denied/m);
    expect(stderr.match(/cannot be examined: EACCES/g)).toHaveLength(1);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(5);
  });

  it('has files without an owner in list', async () => {
    const directory = directoryWithRings();
    chmodSync(directory, 0o644);
    const { stdout } = await startAsNobody(['list', '--json', '--dir', directory]).ended;
    const [first] = stdout.split('\n');
    expect(JSON.parse(first!)).toMatchObject({ agent: 'a', state: 'denied' });
    expect(JSON.parse(first!)).not.toHaveProperty('owner');
    const table = await startAsNobody(['list', '--dir', directory]).ended;
    expect(table.stdout).toMatch(/^a( +-)+ +denied: /m);
  });

  it.each([
    ['list', '600'],
    ['list', '644'],
    ['top', '600'],
    ['top', '644'],
  ])('ends %s with 5 where its mode is %s and there is nothing else', async (command, mode) => {
    const directory = directoryWithRings();
    chmodSync(directory, mode);
    const once = command === 'top' ? ['--once', '--interval', '100'] : [];
    const { code, stderr } = await startAsNobody([command, ...once, '--dir', directory]).ended;
    expect(stderr).toContain('EACCES');
    expect(code).toBe(5);
  });

  it('beside a readable one: the visible rings decide the exit code', async () => {
    const [open, locked] = [directoryWithRings(), directoryWithRings()];
    chmodSync(open, 0o755);
    chmodSync(locked, 0o600);
    const dirs = ['--dir', locked, '--dir', open];
    for (const args of [['list'], ['top', '--once', '--interval', '100', '--all']]) {
      expect(await startAsNobody([...args, ...dirs]).ended).toMatchObject({ code: 0 });
    }
  });

  it('causes a note of top, which continues', async () => {
    const directory = directoryWithRings();
    chmodSync(directory, 0o755);
    const top = startAsNobody(['top', '--all', '--json', '--interval', '100', '--dir', directory]);
    await top.says(/"agent":"b"/);
    chmodSync(directory, 0o644);
    await top.says(/cannot be examined: EACCES/);
    chmodSync(directory, 0o755);
    await top.says(/cannot be examined: EACCES(.|\n)*"agent":"b"/);
    expect(await top.stop()).toMatchObject({ code: 0 });
  });
});
