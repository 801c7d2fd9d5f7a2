/** The process of an agent and its ancestors, from /proc. Linux only. */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Lineage, ProcessLine } from '../engines/engine-identity.js';
import { attempt } from '../ground/errors.js';
import { initialEnvironment, parentOf } from './agent-process.js';

/** An engine has at most four processes between its command and a worker; shells and supervisors are above. */
const MOST_ANCESTORS = 12;
/** A command line can have megabytes; that of an engine has its configuration as JSON. */
const MOST_COMMAND_BYTES = 65_536;

/** A process that was read, with the pid of its parent. */
interface SeenProcess {
  readonly line: ProcessLine;
  readonly parent: number;
}

/** Reads processes and their ancestors, each once: workers of an engine have the same ancestors. For one moment. */
export class LineageReader {
  readonly #variables: readonly string[];
  readonly #procDir: string;
  readonly #seen = new Map<number, SeenProcess | undefined>();

  /** `variables`: those to keep. `procDir`: for tests. */
  constructor(variables: readonly string[], procDir = '/proc') {
    this.#variables = variables;
    this.#procDir = procDir;
  }

  /** Returns the process, its parent, and so on; undefined if the process has ended or is not visible. */
  of(pid: number): Lineage | undefined {
    const lines: ProcessLine[] = [];
    for (let next = pid; next > 0 && lines.length < MOST_ANCESTORS;) {
      if (!this.#seen.has(next)) this.#seen.set(next, this.#processOf(next));
      const found = this.#seen.get(next);
      if (found === undefined) break;
      lines.push(found.line);
      next = found.parent;
    }
    return lines.length === 0 ? undefined : lines;
  }

  #processOf(pid: number): SeenProcess | undefined {
    const parent = parentOf(pid, this.#procDir);
    const argv = argumentsOf(pid, this.#procDir);
    if (parent === undefined || argv === undefined) return undefined;
    const environment = someOf(initialEnvironment(pid, this.#procDir), this.#variables);
    return { line: { pid, argv, environment }, parent };
  }
}

/** A process that renames itself leaves zeros behind its new name. Its comm would be cut at 15 bytes. */
function argumentsOf(pid: number, procDir: string): string[] | undefined {
  const text = attempt(() => firstBytes(join(procDir, String(pid), 'cmdline')));
  return text?.replace(/[\0 ]+$/, '').split('\0');
}

/** Of one call at a time. */
const buffer = Buffer.allocUnsafeSlow(MOST_COMMAND_BYTES);

function firstBytes(path: string): string {
  const file = openSync(path, 'r');
  try {
    let length = 0;
    // One read returns at most a page of some kernels.
    for (let got = -1; got !== 0 && length < buffer.length; length += got) {
      got = readSync(file, buffer, length, buffer.length - length, null);
    }
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

function someOf(
  environment: ReadonlyMap<string, string> | undefined,
  names: readonly string[],
): ReadonlyMap<string, string> | undefined {
  return environment && new Map([...environment].filter(([name]) => names.includes(name)));
}
