/** doctor on processes whose settings are in NIXL's configuration file, and on settings that stop an agent. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../command.js';
import { diagnose, startAgentWithoutRing, troubles } from './doctor.js';

function privateDirectory(): string {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o750);
  return directory;
}

/** Runs doctor on a process with these variables. */
async function troublesOf(env: NodeJS.ProcessEnv) {
  const { pid } = (await startAgentWithoutRing(env)).child;
  return troubles(await diagnose(['--pid', String(pid)]), `process ${pid} `);
}

it.each(['NIXL_CONFIG_FILE', 'HOME'])('reads the file of a process by its %s', async (variable) => {
  const [directory, home] = [privateDirectory(), temporaryDirectory()];
  const file = path.join(home, '.nixl.cfg');
  writeFileSync(file, `NIXL_TELEMETRY_ENABLE = true\nNIXL_TELEMETRY_DIR = "${directory}"`);
  const env = { [variable]: variable === 'HOME' ? home : file };
  expect(await troublesOf(env)).toMatchObject([{ status: 'note', finding: 'no-ring-of-process' }]);
  expect(await troublesOf({ ...env, NIXL_TELEMETRY_EXPORTER: 'prometheus' })).toMatchObject([
    { finding: 'other-exporter' },
  ]);
});

it('follows no link to the file of a process, and repeats no text of it', async () => {
  const folder = temporaryDirectory();
  const file = path.join(folder, 'nixl.cfg');
  writeFileSync(file, 'password = = "secret"');
  symlinkSync(folder, path.join(folder, 'link'));
  symlinkSync(file, path.join(folder, 'nixl.link'));
  for (const linked of ['link/nixl.cfg', 'nixl.link']) {
    const named = path.join(folder, linked);
    const [found, ...more] = await troublesOf({ NIXL_CONFIG_FILE: named });
    expect(found).toMatchObject({ status: 'note', finding: 'nixl-config' });
    expect(found!.what).toContain(`${named}, cannot be used: a part of its path is a symbolic link`);
    expect(more).toEqual([]);
  }
  const [bad] = await troublesOf({ NIXL_CONFIG_FILE: file });
  expect(bad).toMatchObject({ status: 'problem', finding: 'nixl-config' });
  expect(bad!.why).toContain('reading TOML config file');
  expect(JSON.stringify(bad)).not.toContain('secret');
  const [missing] = await troublesOf({ NIXL_CONFIG_FILE: path.join(folder, 'missing') });
  expect(missing).toMatchObject({ status: 'problem', finding: 'nixl-config' });
});

it.each([
  [{ NIXL_TELEMETRY_ENABLE: 'ture' }, 'wrong-enable', 'Conversion to bool failed'],
  [{ NIXL_TELEMETRY_ENABLE: '' }, 'wrong-enable', 'Conversion to bool failed'],
  [{ NIXL_TELEMETRY_BUFFER_SIZE: '5000' }, 'wrong-buffer-size', 'Failed to create telemetry exporter: BUFFER'],
  [{ NIXL_TELEMETRY_BUFFER_SIZE: '0' }, 'no-buffer-size', 'Telemetry buffer size cannot be 0'],
  [{ NIXL_TELEMETRY_BUFFER_SIZE: '4k' }, 'no-buffer-size', 'Invalid integer string'],
  [{ NIXL_TELEMETRY_EXPORTER: 'buffer' }, 'wrong-exporter', 'Failed to load telemetry plugin'],
  [{ NIXL_TELEMETRY_ENABLE: 'n' }, 'telemetry-vetoed', 'counts each good transfer as failed'],
])('finds what stops an agent: %j', async (env, name, words) => {
  const found = await troublesOf({ NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_DIR: privateDirectory(), ...env });
  expect(found).toMatchObject([{ status: 'problem', finding: name }]);
  expect(found[0]!.why).toContain(words);
});

it('says by release what a missing directory does', async () => {
  const directory = path.join(temporaryDirectory(), 'missing');
  const [found] = troubles(await diagnose(['--dir', directory]), directory);
  expect(found!.why).toContain('Since NIXL 1.4.0 an agent raises "Failed to create telemetry exporter: BUFFER"');
  mkdirSync(directory);
});
