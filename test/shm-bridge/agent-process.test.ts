import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readAgentProcess } from '../../src/shm-bridge/index.js';
import { temporaryDirectory } from '../support/live.js';

/** A /proc with two kinds of GPUs, as the driver writes it, and one process. */
function procWith(environment: Record<string, string>): string {
  const proc = temporaryDirectory();
  const gpu = (address: string, model: string, uuid: string): void => {
    const directory = join(proc, 'driver/nvidia/gpus', address);
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      join(directory, 'information'),
      `Model: \t\t ${model}\nIRQ:   \t\t 123\nGPU UUID: \t ${uuid}\nVideo BIOS: \t 96.00\nBus Location: \t ${address}\n`,
    );
  };
  gpu('0000:3b:00.0', 'NVIDIA V100', 'GPU-bb22');
  gpu('0000:1a:00.0', 'NVIDIA A100', 'GPU-aa11');
  mkdirSync(join(proc, '7'));
  const pairs = Object.entries(environment).map(([name, value]) => `${name}=${value}\0`);
  writeFileSync(join(proc, '7/environ'), pairs.join(''));
  return proc;
}

describe('an agent process', () => {
  it('has the requested variables, and no others', () => {
    const proc = procWith({ LOCAL_RANK: '3', SECRET: 'token', URL: 'a=b' });
    expect(readAgentProcess(7, ['LOCAL_RANK', 'URL', 'NOT_SET'], proc)).toEqual({
      pid: 7,
      environment: { LOCAL_RANK: '3', URL: 'a=b', NOT_SET: undefined },
      gpus: ['NVIDIA A100', 'NVIDIA V100'],
    });
  });

  it.each([
    ['', []],
    ['-1', []],
    ['1', ['NVIDIA V100']],
    ['1,0', ['NVIDIA V100', 'NVIDIA A100']],
    ['0,5,1', ['NVIDIA A100']],
    ['GPU-bb', ['NVIDIA V100']],
    ['MIG-aa11', []],
  ])('sees with CUDA_VISIBLE_DEVICES=%j the GPUs %j', (devices, gpus) => {
    expect(readAgentProcess(7, [], procWith({ CUDA_VISIBLE_DEVICES: devices }))?.gpus).toEqual(gpus);
  });

  it('is read from /proc, and undefined without an error once it has ended', async () => {
    const child = spawn('sleep', ['600'], { env: { LOCAL_RANK: '5' } });
    onTestFinished(() => void child.kill('SIGKILL'));
    await new Promise((resolve) => child.once('spawn', resolve));
    await expect.poll(() => readAgentProcess(child.pid!, ['LOCAL_RANK'])?.environment).toEqual({ LOCAL_RANK: '5' });
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await gone;
    expect(readAgentProcess(child.pid!, [])).toBeUndefined();
  });
});
