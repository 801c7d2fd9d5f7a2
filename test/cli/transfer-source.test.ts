/** Flags of transfer-source: refused ones, with their messages. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { WIRE_VERSIONS } from '../support/rings.js';
import { startTransferSource, temporaryDirectory } from './command.js';

const WHOLE = 'a whole number from';
const FLAGS = '--help lists them all';
const slow = (after: string, factor: string): string[] => ['--slow-after', after, '--slow-factor', factor];

it.each<[args: string[], message: string]>([
  [[], '--dir is missing: name a directory (or set NIXL_TELEMETRY_DIR)'],
  [['--dir', ''], '--dir is "": use a directory'],
  [['--dir'], '--dir needs a value after it'],
  [['--dir', 'x', '--ready=1'], '--ready takes no value'],
  [['--speed', '9'], `there is no flag --speed: ${FLAGS}`],
  [['--speed=9'], `there is no flag --speed: ${FLAGS}`],
  [['--rat', '9'], `there is no flag --rat: ${FLAGS}`], // the beginning of --rate
  [['--restart', '9'], `there is no flag --restart: ${FLAGS}`], // the beginning of three flags
  [['-r'], `there is no flag -r: ${FLAGS}`],
  [['here'], `there is no flag here: ${FLAGS}`],
  [['--', 'here'], `there is no flag --: ${FLAGS}`],
  [['--agents', '0'], `--agents is "0": use ${WHOLE} 1 to 4096`],
  [['--agents=-1'], `--agents is "-1": use ${WHOLE} 1 to 4096`],
  [['--agents', '--ready'], `--agents is "--ready": use ${WHOLE} 1 to 4096`],
  [['--rate', 'nan'], '--rate is "nan": use a number from 0 to 100000000'],
  [['--reads', '100.5'], '--reads is "100.5": use a number from 0 to 100'],
  [['--seed', '18446744073709551616'], `--seed is "18446744073709551616": use ${WHOLE} 0 to 18446744073709551615`],
  [['--wire-version', '9'], `--wire-version is "9": use ${WHOLE} 1 to ${WIRE_VERSIONS.at(-1)}`],
  [['--buffer-size', '1000'], '--buffer-size is "1000": use a power of two from 2 to 16777216 (slots)'],
  [['--restart-sizes', '64,65'], '--restart-sizes is "64,65": use powers of two from 2 to 16777216 with commas'],
  [['--sizes', '4k:0'], '--sizes is "4k:0": use size:weight pairs'],
  [['--sizes', '5G'], '--sizes is "5G": use size:weight pairs'],
  [['--bandwidth', '0'], '--bandwidth is "0": use bytes per second from 1 to 1024G as 20G'],
  [['--bandwidth', '2T'], '--bandwidth is "2T": use bytes per second from 1 to 1024G'],
  [['--bandwidth', '1025G'], '--bandwidth is "1025G": use bytes per second from 1 to 1024G'],
  [['--bandwidth', '1M:1G,20G'], '--bandwidth is "1M:1G,20G": use bytes per second from 1 to 1024G'],
  [['--base-us', '1.5'], `--base-us is "1.5": use ${WHOLE} 0 to 60000000`],
  [['--post-us', '-1'], `--post-us is "-1": use ${WHOLE} 0 to 60000000`],
  [['--slow-after', '-1'], '--slow-after is "-1": use a number from 0 to 100000000'],
  [['--slow-factor', '0.5'], '--slow-factor is "0.5": use a factor from 1 to 1000000 for all parts of the time, or by'],
  [['--slow-factor', 'nan'], '--slow-factor is "nan": use a factor from 1 to 1000000'],
  [['--slow-factor', 'past:2'], '--slow-factor is "past:2": use a factor from 1 to 1000000'],
  [['--slow-factor', 'post:2,post:3'], '--slow-factor is "post:2,post:3": use a factor from 1 to 1000000'],
  [['--name', '../x'], '--name is "../x": use a file name, or folder/name'],
  [['--dir', 'x', '--processes', '2'], '--processes is 2: use at most one per agent (--agents 1)'],
  [['--dir', 'x', '--agents', '2', '--exact-name'], '--exact-name goes with --agents 1 only'],
  [['--dir', 'x', '--gpu', '--copy-free'], '--gpu and --copy-free exclude each other'],
  [['--dir', 'x', '--restarts', '1'], '--restarts and --restart-sizes need --restart-every'],
  [
    ['--dir', 'x', '--bandwidth', '1G,16M:9M'],
    '--bandwidth has a rate from 16777216 bytes on, which no size of --sizes',
  ],
  [['--dir', 'x', '--slow-after', '3', '--post-us', '3'], '--slow-after needs --slow-factor'],
  [['--dir', 'x', '--slow-factor', '3', '--post-us', '3'], '--slow-factor needs --slow-after'],
  [
    ['--dir', 'x', ...slow('3', '40')],
    '--slow-factor for all parts needs a time to multiply: --bandwidth, --base-us or',
  ],
  [['--dir', 'x', ...slow('3', '2,post:9'), '--post-us', '3'], '--slow-factor for all parts needs a time to multiply'],
  [['--dir', 'x', ...slow('3', 'bandwidth:40'), '--post-us', '3'], '--slow-factor bandwidth needs --bandwidth'],
  [['--dir', 'x', ...slow('3', 'base:9'), '--post-us', '3'], '--slow-factor base needs --base-us with 1 or more'],
  [['--dir', 'x', ...slow('3', 'post:9'), '--base-us', '3'], '--slow-factor post needs --post-us with 1 or more'],
  [
    ['--dir', 'x', ...slow('10', '2'), '--post-us', '3'],
    '--slow-after is 10: use less than the duration (--seconds 10)',
  ],
])('refuses %j', async (args, message) => {
  const { code, stdout, stderr } = await startTransferSource(args).ended;
  expect(stderr.startsWith(`transfer-source: ${message}`), stderr).toBe(true);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

it('names the variable of a wrong value, which a flag overrides', async () => {
  const dir = temporaryDirectory();
  const env = { NIXL_TELEMETRY_BUFFER_SIZE: '1000', NIXL_TELEMETRY_DIR: dir };
  const { code, stderr } = await startTransferSource([], env).ended;
  expect(stderr).toContain('NIXL_TELEMETRY_BUFFER_SIZE is "1000": use a power of two');
  expect(code).toBe(2);
  const flags = ['--buffer-size=64', '--transfers', '1', '--sizes=4k', '--exact-name', '--name', 'folder/one'];
  expect(await startTransferSource(flags, env).ended).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(path.join(dir, 'folder/one'))).toBe(true);
});

it('prints its flags and its version without other flags', async () => {
  const help = await startTransferSource(['--help']).ended;
  expect(help.stdout).toMatch(/^Usage: transfer-source --dir DIR \[flags\]\n/);
  expect(help.code).toBe(0);
  const version = await startTransferSource(['--version']).ended;
  expect(version).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^transfer-source \d+\.\d+\.\d+, /) as string,
  });
});
