/** The exporter console with a file in place of stdout. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { allDrained } from '../support/live.js';
import { run, start, temporaryDirectory } from './command.js';

function ringWith(bytes: bigint): string {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: bytes });
  writer.close();
  return directory;
}

it("has the path of NIXL's variables, and keeps its earlier text", async () => {
  const file = path.join(temporaryDirectory(), 'metrics.txt');
  writeFileSync(file, 'before\n');
  const directory = ringWith(4321n);
  const serve = start(['serve', '--dir', directory], {
    NIXL_TELEMETRY_EXPORTER: 'console',
    NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: file,
  });
  await serve.says(/exports from/);
  await allDrained(directory);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0, stdout: '' });
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^before\n\{\n {2}descriptor: \{/);
  expect(text).toMatch(/name: 'agent_tx_bytes_total'[^]*value: 4321\b/);
});

it('that cannot be written ends serve before a ring is drained', async () => {
  const file = path.join(temporaryDirectory(), 'no/such/folder/metrics.txt');
  const directory = ringWith(1n);
  const before = readFileSync(path.join(directory, 'agent'));
  const flags = ['--exporter', 'console', '--console-file', file];
  const { code, stderr } = await run(['serve', '--dir', directory, ...flags]);
  expect(stderr).toMatch(/the file of the exporter console cannot be written: ENOENT.*metrics\.txt/);
  expect(code).toBe(1);
  expect(readFileSync(path.join(directory, 'agent')).equals(before)).toBe(true);
});

it('on a full disk is one warning', async () => {
  const flags = ['--exporter', 'console', '--console-file', '/dev/full', '--export-interval', '2000'];
  const serve = start(['serve', '--dir', ringWith(1n), ...flags]);
  await serve.says(/exporter console failed: ENOSPC/);
  const { code, stderr } = await serve.stop('SIGTERM');
  expect(code).toBe(0);
  expect(stderr.match(/failed/g)).toHaveLength(1);
});
