/** What a process has loaded and opened, and its counters, from real processes and made entries of /proc. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { interfacesOf, networkNamespaceOf } from '../../src/host/interfaces.js';
import { fileBytesOf, processPath } from '../../src/host/process-path.js';
import { temporaryDirectory } from '../support/live.js';

test('reads this process', () => {
  const bytes = interfacesOf(process.pid)!;
  expect(bytes.get('lo')!.sentBytes).toBe(bytes.get('lo')!.receivedBytes);
  expect(networkNamespaceOf(process.pid)).toMatch(/^net:\[\d+\]$/);
  expect(processPath(process.pid, '/sys')).toMatchObject({ backends: [], devices: [] });
  expect(fileBytesOf(process.pid)!.calls.receivedBytes).toBeGreaterThan(0);
});

test('returns nothing of a process that is gone', () => {
  const gone = 2 ** 22 + 1;
  expect([interfacesOf(gone), networkNamespaceOf(gone), fileBytesOf(gone)]).toEqual([undefined, undefined, undefined]);
  expect(processPath(gone, '/sys')).toEqual({});
});

test('finds plug-ins in maps and devices among open files', () => {
  const [proc, sys] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(path.join(proc, '7/fd'), { recursive: true });
  mkdirSync(path.join(sys, 'class/infiniband_verbs/uverbs1'), { recursive: true });
  writeFileSync(path.join(sys, 'class/infiniband_verbs/uverbs1/ibdev'), 'mlx5_3\n');
  const line = (name: string): string => `7f00-7f01 r-xp 00000000 00:1f 12 /opt/nixl/plugins/${name}\n`;
  const names = ['libplugin_UCX.so', 'libplugin_UCX.so', 'libplugin_GDS_MT.so', 'libuct_ib.so.0'];
  writeFileSync(path.join(proc, '7/maps'), names.map(line).join(''));
  symlinkSync('/dev/infiniband/uverbs1', path.join(proc, '7/fd/4'));
  symlinkSync('/dev/null', path.join(proc, '7/fd/0'));
  expect(processPath(7, sys, proc)).toEqual({ backends: ['GDS_MT', 'UCX'], devices: ['mlx5_3'] });
  // A device without a name may be any.
  symlinkSync('/dev/infiniband/uverbs9', path.join(proc, '7/fd/5'));
  expect(processPath(7, sys, proc)).toEqual({ backends: ['GDS_MT', 'UCX'] });
});

test.each([
  ['1', { memoryNode: 1 }],
  ['0', { memoryNode: 0 }],
  ['0-1', {}],
  ['0,2', {}],
])('knows the node of memory only if there is one: %s', (nodes, known) => {
  const proc = temporaryDirectory();
  mkdirSync(path.join(proc, '7'));
  writeFileSync(path.join(proc, '7/status'), `Name:\tpython3\nMems_allowed:\t00000000\nMems_allowed_list:\t${nodes}\n`);
  expect(processPath(7, '/sys', proc)).toEqual(known);
});
