/** NIXL's configuration file of another process. It belongs to that process, which may change it at any moment. */
import { closeSync, constants, openSync } from 'node:fs';
import {
  NixlConfigMistake,
  type NixlConfig,
  nixlConfigPlaces,
  problemOf,
  readNixlConfig,
} from '../../settings/nixl-config.js';
import type { Environment } from '../../settings/row.js';
import { reached } from './processes.js';

/** Of Linux; Node.js has no name for it. A descriptor with it needs no right to list the folder. */
const O_PATH = 0o10000000;
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

export interface ProcessConfig {
  /** As the process names it. */
  readonly file: string;
  readonly values: NixlConfig;
  /** Reason for which it cannot be used; without a text of the file. */
  readonly problem?: string;
  /** True if NIXL refuses the file for the same reason. */
  readonly isRefused: boolean;
}

/** Returns undefined if the process has no such file. `environment`: of its start. */
export function processConfig(pid: number, environment: Environment): ProcessConfig | undefined {
  const { paths, isNamed } = nixlConfigPlaces(environment);
  for (const one of paths) {
    const file = reached(pid, one).given;
    try {
      return { file, values: readNixlConfig(openWithoutLinks(pid, file)), isRefused: false };
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (isMissing && !isNamed) continue;
      const isRefused = isMissing || error instanceof NixlConfigMistake;
      return { file, values: {}, problem: isMissing ? 'it does not exist' : reasonOf(error), isRefused };
    }
  }
  return undefined;
}

function reasonOf(error: unknown): string {
  const isLink = ['ELOOP', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  return isLink ? 'a part of its path is a symbolic link, which doctor does not follow' : problemOf(error);
}

/** Opens a file of a process's root, one part of the path after the other: each of them could become a link meanwhile. */
function openWithoutLinks(pid: number, file: string): number {
  const parts = file.split('/').filter(Boolean);
  let folder = openSync(`/proc/${pid}/root`, O_PATH | O_DIRECTORY);
  for (const [i, part] of parts.entries()) {
    const flags = i < parts.length - 1 ? O_PATH | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
    try {
      const next = openSync(`/proc/self/fd/${folder}/${part}`, flags | O_NOFOLLOW);
      closeSync(folder);
      folder = next;
    } catch (error) {
      closeSync(folder);
      throw error;
    }
  }
  return folder;
}
