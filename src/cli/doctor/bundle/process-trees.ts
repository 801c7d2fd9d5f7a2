/** Processes that write rings or use NIXL, and their ancestors, without their arguments: these may have keys of an API. */
import { readFileSync } from 'node:fs';
import { attempt } from '../../../ground/errors.js';
import { initialEnvironment, parentOf } from '../../../shm-bridge/agent-process.js';
import { LineageReader } from '../../../shm-bridge/lineage.js';
import { ageSeconds, fileText } from '../processes.js';
import { wheelsBeside } from './wheels.js';

const VARIABLE = /^(NIXL|UCX)_/;
const MOST_VARIABLES = 100;
const MOST_TEXT = 1000;
/** Example: `/usr/lib/python3/site-packages/nixl_cu12/libnixl.so`. The path names the package that brought it. */
const NIXL_FILE = /\/\S*\/(?:libnixl|libplugin_)[^/\s]*\.so[^/\s]*/g;

export interface BundledProcess {
  readonly pid: number;
  readonly parent: number | undefined;
  /** Its name in the kernel, and the first word of its command or of the title that it gave itself. */
  readonly name: string;
  readonly title: string;
  readonly started: string | undefined;
  /** Variables of its start that begin with NIXL_ or UCX_; a text if they cannot be read. */
  readonly variables: Readonly<Record<string, string>> | string;
  /** Files of NIXL that it has mapped; a text if that cannot be seen. */
  readonly libraries: readonly string[] | string;
  /** Packages beside these, with versions: `nixl_cu12-1.5.1`. */
  readonly wheels: readonly string[];
}

/** Returns each process once. */
export function processTrees(pids: readonly number[]): BundledProcess[] {
  const lineages = new LineageReader([]);
  const lines = pids.flatMap((pid) => lineages.of(pid) ?? []);
  return [...new Map(lines.map((line) => [line.pid, line])).values()].map(({ pid, argv }) => {
    const libraries = librariesOf(pid);
    return {
      pid,
      parent: parentOf(pid),
      name: fileText(`/proc/${pid}/comm`).trim(),
      title: shortened(argv[0]!.split(' ', 1)[0]!),
      started: startOf(pid),
      variables: variablesOf(pid),
      libraries,
      wheels: typeof libraries === 'string' ? [] : wheelsBeside(libraries, `/proc/${pid}/root`),
    };
  });
}

function startOf(pid: number): string | undefined {
  const age = ageSeconds(pid);
  return age === undefined ? undefined : new Date(Date.now() - age * 1000).toISOString();
}

function variablesOf(pid: number): Record<string, string> | string {
  const all = initialEnvironment(pid);
  if (all === undefined) return 'not readable: of another user, overwritten, or the process has ended';
  const own = [...all].filter(([name]) => VARIABLE.test(name)).slice(0, MOST_VARIABLES);
  return Object.fromEntries(own.map(([name, text]) => [name, shortened(text)]));
}

function librariesOf(pid: number): string[] | string {
  const maps = attempt(() => readFileSync(`/proc/${pid}/maps`, 'utf8'));
  if (maps === undefined) return 'not visible: of another user, or the process has ended';
  return [...new Set(maps.match(NIXL_FILE) ?? [])].sort();
}

function shortened(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}...` : text;
}
