/** Engines that start, in made trees of /proc. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { startingEngines } from '../../src/shm-bridge/starting-engines.js';
import { temporaryDirectory } from '../cli/command.js';

interface Made {
  readonly pid: number;
  readonly parent: number;
  readonly argv: readonly string[];
  /** Seconds since its start. */
  readonly ageS?: number;
  readonly environ?: string;
}

const UP_S = 100_000;

function proc(processes: readonly Made[]): string {
  const directory = temporaryDirectory();
  writeFileSync(path.join(directory, 'uptime'), `${UP_S}.00 1.00\n`);
  for (const { pid, parent, argv, ageS = 60, environ } of processes) {
    const folder = path.join(directory, String(pid));
    mkdirSync(folder);
    const ticks = (UP_S - ageS) * 100;
    writeFileSync(path.join(folder, 'stat'), `${pid} (a b) c) S ${parent} ${'0 '.repeat(17)}${ticks} 0\n`);
    writeFileSync(path.join(folder, 'cmdline'), argv.map((one) => `${one}\0`).join(''));
    if (environ !== undefined) writeFileSync(path.join(folder, 'environ'), environ);
  }
  return directory;
}

const VLLM = ['/usr/bin/python3', '/usr/local/bin/vllm', 'serve', 'org/model', '--port', '8100'];

it('counts instances, not the processes that they start', () => {
  const made = proc([
    { pid: 10, parent: 1, argv: VLLM },
    { pid: 11, parent: 10, argv: VLLM },
    { pid: 12, parent: 11, argv: ['VLLM::Worker_TP0'] },
    { pid: 20, parent: 1, argv: VLLM },
    { pid: 30, parent: 1, argv: ['python3', '-m', 'sglang.launch_server', '--port', '1'] },
    { pid: 40, parent: 1, argv: ['python3', 'train.py'] },
    { pid: 50, parent: 1, argv: ['sh', '-c', 'sleep 1; vllm serve model'] },
    { pid: 60, parent: 1, argv: ['grep', 'vllm', 'serve.log'] },
  ]);
  expect(startingEngines('/d', made)).toBe('2 vLLM instances and 1 SGLang instance are starting');
});

it.each([
  ['one', [{ pid: 10, parent: 1, argv: VLLM }], '1 vLLM instance is starting'],
  ['one that has run for an hour', [{ pid: 10, parent: 1, argv: VLLM, ageS: 3600 }], undefined],
  [
    'one with a directory',
    [{ pid: 10, parent: 1, argv: VLLM, environ: 'A=1\0NIXL_TELEMETRY_DIR=/d\0' }],
    '1 vLLM instance is starting',
  ],
  ['one with another directory', [{ pid: 10, parent: 1, argv: VLLM, environ: 'NIXL_TELEMETRY_DIR=/e\0' }], undefined],
  ['one without a directory', [{ pid: 10, parent: 1, argv: VLLM, environ: 'A=1\0' }], undefined],
  ['none', [{ pid: 10, parent: 1, argv: ['sleep', '1'] }], undefined],
])('with %s', (_, processes, text) => expect(startingEngines('/d', proc(processes))).toBe(text));
