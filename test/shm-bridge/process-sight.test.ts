/** Rights that hide processes, as a made /proc shows them. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { missingSights } from '../../src/shm-bridge/process-sight.js';
import { temporaryDirectory } from '../support/live.js';

const HOST = 'pid:[4026531836]';

function procOf({ namespace = HOST, pids = ['1', '7'], capabilities = 'ffffffffffffffff' } = {}): string {
  const proc = temporaryDirectory();
  mkdirSync(path.join(proc, 'self/ns'), { recursive: true });
  symlinkSync(namespace, path.join(proc, 'self/ns/pid'));
  writeFileSync(path.join(proc, 'self/status'), `Name:\tnode\nCapEff:\t${capabilities}\n`);
  for (const pid of pids) {
    mkdirSync(path.join(proc, pid));
    writeFileSync(path.join(proc, pid, 'maps'), '');
  }
  return proc;
}

const kindsOf = (proc: string, user: number): string[] => missingSights(proc, user).map(({ kind }) => kind);

it('lacks nothing where all processes of the host can be examined', () => {
  expect(kindsOf(procOf(), 0)).toEqual([]);
  expect(kindsOf(procOf(), 1000)).toEqual([]);
});

it('names the PID namespace, and the right beside it', () => {
  expect(kindsOf(procOf({ namespace: 'pid:[4026532700]' }), 1000)).toEqual(['namespace']);
  expect(kindsOf(procOf({ namespace: 'pid:[4026532700]', pids: ['7'] }), 1000)).toEqual(['namespace', 'user']);
});

it.each([
  [1000, undefined, 'user'],
  [0, '00000000a80425fb', 'capability'],
  [0, '000001ffffffffff', 'other'],
] as const)('names what user %i with the capabilities %s lacks', (user, capabilities, kind) => {
  const proc = procOf({ pids: ['7'], ...(capabilities && { capabilities }) });
  expect(kindsOf(proc, user)).toEqual([kind]);
});

it.skipIf(process.getuid!() === 0)('looks for a process that it may not examine', () => {
  const proc = procOf();
  chmodSync(path.join(proc, '7/maps'), 0);
  expect(kindsOf(proc, 1000)).toEqual(['user']);
});

it('passes over a process that ends meanwhile', () => {
  const proc = procOf();
  mkdirSync(path.join(proc, '8'));
  expect(kindsOf(proc, 0)).toEqual([]);
});
