/** Facts from /proc about the process that writes a ring. Linux only; this user must be permitted to read the process. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { check, pathArgument, isText, listOf, wholeNumberArgument } from '../ground/arguments.js';
import { attempt } from '../ground/errors.js';

export interface AgentProcess {
  readonly pid: number;
  /** Requested variables, as of the start of the process: later changes are invisible. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Models of the GPUs that the process may use, in the order of their PCI addresses; undefined without an NVIDIA driver. */
  readonly gpus?: readonly string[];
}

/** Variable that selects the GPUs that CUDA shows to a process. */
const VISIBLE_DEVICES = 'CUDA_VISIBLE_DEVICES';
/** Limit of an environment. Variables beyond it are ignored. */
const MAX_ENVIRONMENT_BYTES = 4 * 2 ** 20;

/**
 * Returns facts about a process, with only the variables of these names. Returns undefined if the process has ended or
 * is not readable; both are normal and need no log line. `procDir`: for tests.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function readAgentProcess(
  pid: number,
  variables: readonly string[],
  procDir = '/proc',
): AgentProcess | undefined {
  wholeNumberArgument('pid', pid, 1, 2 ** 31 - 1);
  listOf('variables', variables, (name, one) => check(isText(one), name, one, 'the name of a variable'));
  const pairs = pairsOf(pid, pathArgument('procDir', procDir));
  if (pairs === undefined) return undefined;
  const all = new Map(pairs);
  const environment = Object.fromEntries(variables.map((name) => [name, all.get(name)]));
  const gpus = installedGpus(procDir);
  return { pid, environment, ...(gpus === undefined ? {} : { gpus: visibleOf(gpus, all.get(VISIBLE_DEVICES)) }) };
}

/** Returns the start time of a process in clock ticks since boot: it distinguishes processes that reuse a pid. */
export function processStart(pid: number, procDir = '/proc'): string | undefined {
  return statField(22, pid, procDir);
}

/** Returns the pid of its parent; undefined if the process has ended. */
export function parentOf(pid: number, procDir = '/proc'): number | undefined {
  const parent = statField(4, pid, procDir);
  return parent === undefined ? undefined : Number(parent);
}

/** Field 2 is the program's name in parentheses and may contain anything: this returns a later one. */
function statField(field: number, pid: number, procDir: string): string | undefined {
  const text = attempt(() => readFileSync(join(procDir, String(pid), 'stat'), 'latin1'));
  return text
    ?.slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .at(field - 3);
}

/** True also of a process of another user, and of one that its parent has not waited for. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Returns the birth of a ring's file, in nanoseconds since the epoch; 0 if unknown. `inode` orders files of one step of the
 * kernel's clock (4 ms), because most file systems count inodes upwards.
 */
export function ringBirth(directory: string, agent: string): { readonly timeNs: bigint; readonly inode: bigint } {
  const stats = attempt(() => statSync(join(directory, agent), { bigint: true }));
  return { timeNs: stats?.birthtimeNs ?? 0n, inode: stats?.ino ?? 0n };
}

/**
 * Returns the variables that a process was started with. Returns undefined if they are not readable, or if the process
 * overwrote them: engines that rename themselves do, and /proc shows zeros or a part of the new name then.
 */
export function initialEnvironment(pid: number, procDir = '/proc'): ReadonlyMap<string, string> | undefined {
  const pairs = pairsOf(pid, procDir);
  return pairs?.every(([name]) => name !== '') ? new Map(pairs) : undefined;
}

/** Returns the flush interval in milliseconds that a process was started with, as native/process/flush_setting.h. */
export function flushSettingOf(pid: number): number | undefined {
  const value = initialEnvironment(pid)?.get('NIXL_TELEMETRY_RUN_INTERVAL') ?? '';
  return /^[1-9]\d{0,7}$/.test(value) ? Number(value) : undefined;
}

/** A text without a name has an empty one. */
function pairsOf(pid: number, procDir: string): [name: string, value: string][] | undefined {
  const text = attempt(() => readFileSync(join(procDir, String(pid), 'environ')))
    ?.subarray(0, MAX_ENVIRONMENT_BYTES)
    .toString()
    .replace(/\0$/, '');
  return (text === '' ? [] : text?.split('\0'))?.map((pair) => {
    const at = Math.max(0, pair.indexOf('='));
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

interface Gpu {
  readonly model: string;
  readonly uuid: string;
}

function installedGpus(procDir: string): Gpu[] | undefined {
  const directory = join(procDir, 'driver/nvidia/gpus');
  return attempt(() =>
    readdirSync(directory)
      .toSorted()
      .map((address) => {
        const text = readFileSync(join(directory, address, 'information'), 'utf8');
        const field = (name: string): string => new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'm').exec(text)?.[1] ?? '';
        return { model: field('Model'), uuid: field('GPU UUID') };
      }),
  );
}

/**
 * Returns the models of the GPUs that CUDA_VISIBLE_DEVICES selects; all if it is not set. Parses it as CUDA does:
 * comma-separated indices or prefixes of UUIDs, up to the first invalid one. A MIG slice counts as invalid.
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
