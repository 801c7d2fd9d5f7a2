/** NIXL's configuration file: the places where it is, the order of its values and variables, and files that cannot be used. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/rings.js';
import { withNixlConfig } from '../../src/settings/nixl-config.js';
import { run, scrape, start, temporaryDirectory, until } from '../cli/command.js';

function fileWith(text: string, name = 'nixl.toml'): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, text);
  return file;
}

describe('the values of the file', () => {
  const text =
    'NIXL_TELEMETRY_ENABLE = true\nNIXL_TELEMETRY_DIR = "/rings"\nNIXL_TELEMETRY_RUN_INTERVAL = 50\nother = 1';
  const values = { NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_DIR: '/rings', NIXL_TELEMETRY_RUN_INTERVAL: '50' };

  it('are those of variables that are not set', () => {
    const named = { NIXL_CONFIG_FILE: fileWith(text), HOME: '/missing' };
    expect(withNixlConfig(named)).toEqual({ ...named, ...values });
    expect(withNixlConfig({ ...named, NIXL_TELEMETRY_DIR: '/other' })).toMatchObject({ NIXL_TELEMETRY_DIR: '/other' });
    expect(withNixlConfig({ ...named, NIXL_TELEMETRY_DIR: '' })).toMatchObject({ NIXL_TELEMETRY_DIR: '/rings' });
  });

  it('come from the home folder, if no variable names a file', () => {
    const file = fileWith(text, '.nixl.cfg');
    const link = path.join(temporaryDirectory(), '.nixl.cfg');
    symlinkSync(file, link); // as in a mounted ConfigMap
    for (const HOME of [path.dirname(file), path.dirname(link)]) expect(withNixlConfig({ HOME })).toMatchObject(values);
    const empty = { HOME: temporaryDirectory() };
    expect(withNixlConfig(empty)).toBe(empty);
  });
});

it.each([
  ['secret = = 1', 'line 1, column 10 is no TOML'],
  ['NIXL_TELEMETRY_ENABLE = "secret"', 'NIXL_TELEMETRY_ENABLE must be true or false, without quotes'],
  ['NIXL_TELEMETRY_DIR = ["secret"]', 'NIXL_TELEMETRY_DIR must be a string or an integer'],
  [`secret = "${'x'.repeat(64 * 1024)}"`, 'it has more than 64 KiB'],
])('a file with %.40s is refused by its name, without its text', (text, problem) => {
  const file = fileWith(text);
  const refused = (): unknown => withNixlConfig({ NIXL_CONFIG_FILE: file });
  expect(refused).toThrow(`${file}, which NIXL_CONFIG_FILE names, cannot be used as NIXL's configuration: ${problem}`);
  expect(refused).not.toThrow('secret');
});

it('a folder, a fifo and a missing file are refused', () => {
  const folder = temporaryDirectory();
  const fifo = path.join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const of = (file: string) => () => withNixlConfig({ NIXL_CONFIG_FILE: file });
  expect(of(folder)).toThrow('it is no regular file');
  expect(of(fifo)).toThrow('it is no regular file');
  expect(of(path.join(folder, 'missing'))).toThrow('ENOENT');
});

describe('with a directory in the file,', () => {
  function ringAndFile(): { directory: string; file: string } {
    const directory = path.join(temporaryDirectory(), 'rings');
    mkdirSync(directory, { mode: 0o750 });
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
    writer.push({ type: 0, value: 7n });
    writer.close();
    return { directory, file: fileWith(`NIXL_TELEMETRY_DIR = "${directory}"`) };
  }

  it('list, serve and config find its rings', async () => {
    const { directory, file } = ringAndFile();
    const env = { NIXL_CONFIG_FILE: file };
    expect((await run(['list'], env)).stdout).toMatch(/^agent /m);
    expect((await run(['config', 'print'], env)).stdout).toContain(`# from NIXL_TELEMETRY_DIR in ${file}\n`);
    const serve = start(['serve', '--port', '0'], env);
    const [, url] = await serve.says(/serves (\S+)/);
    await until(async () => (await scrape(url!)).includes('agent_tx_bytes_total'));
    expect(serve.stderr).toContain(`from ${directory}`);
    await serve.stop();
  });
});
