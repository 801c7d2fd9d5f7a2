/** What /proc tells of the process that writes a ring. Only Linux, and only of processes that this user may look at. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, isText, listOf } from '../arguments.js';
import { pathText, wholeNumber } from './checks.js';

export interface AgentProcess {
  readonly pid: number;
  /** The variables that were asked for, as the process was started: what it changed since is not seen. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Models of the GPUs that it may use, in the order of their PCI addresses; undefined where there is no NVIDIA driver. */
  readonly gpus?: readonly string[];
}

/** Which GPUs CUDA shows to a process. */
const VISIBLE_DEVICES = 'CUDA_VISIBLE_DEVICES';
/** Longer environments are cut: a variable beyond it is not seen. */
const MAX_ENVIRONMENT_BYTES = 4 * 2 ** 20;

/**
 * `variables`: names to look for; nothing else of the environment is kept. `procDir`: for tests.
 * Undefined where the process is gone or may not be looked at: no reason to log anything.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function readAgentProcess(
  pid: number,
  variables: readonly string[],
  procDir = '/proc',
): AgentProcess | undefined {
  wholeNumber('pid', pid, 1, 2 ** 31 - 1);
  listOf('variables', variables, (name, one) => check(isText(one), name, one, 'the name of a variable'));
  const all = environmentOf(pid, pathText('procDir', procDir));
  if (all === undefined) return undefined;
  const environment = Object.fromEntries(variables.map((name) => [name, all.get(name)]));
  const gpus = installedGpus(procDir);
  return { pid, environment, ...(gpus === undefined ? {} : { gpus: visibleOf(gpus, all.get(VISIBLE_DEVICES)) }) };
}

function environmentOf(pid: number, procDir: string): Map<string, string> | undefined {
  try {
    const text = readFileSync(join(procDir, String(pid), 'environ'))
      .subarray(0, MAX_ENVIRONMENT_BYTES)
      .toString();
    const pairs = text.split('\0').map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    });
    return new Map(pairs);
  } catch {
    return undefined;
  }
}

interface Gpu {
  readonly model: string;
  readonly uuid: string;
}

function installedGpus(procDir: string): Gpu[] | undefined {
  const directory = join(procDir, 'driver/nvidia/gpus');
  try {
    return readdirSync(directory)
      .toSorted()
      .map((address) => {
        const text = readFileSync(join(directory, address, 'information'), 'utf8');
        const field = (name: string): string => new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'm').exec(text)?.[1] ?? '';
        return { model: field('Model'), uuid: field('GPU UUID') };
      });
  } catch {
    return undefined;
  }
}

/**
 * As CUDA reads the variable: indices or beginnings of UUIDs with commas between them, up to the first that is none.
 * Not set: all. MIG slices are not told apart from their GPU here, so they count as none.
 */
function visibleOf(gpus: readonly Gpu[], devices: string | undefined): string[] {
  if (devices === undefined) return gpus.map(({ model }) => model);
  const visible: string[] = [];
  for (const part of devices.split(',').map((one) => one.trim())) {
    const gpu = /^\d+$/.test(part)
      ? gpus[Number(part)]
      : part.startsWith('GPU-')
        ? gpus.find(({ uuid }) => uuid.startsWith(part))
        : undefined;
    if (gpu === undefined) break;
    visible.push(gpu.model);
  }
  return visible;
}
