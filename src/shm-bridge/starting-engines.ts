/** Engines of this host that load their models: they make agents minutes after their start. Linux only. */
import { readFileSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { engineStartedBy } from '../engines/identify.js';
import { attempt } from '../ground/errors.js';
import { plural } from '../ground/figures/figure.js';
import { processStart } from './agent-process.js';
import { LineageReader } from './lineage.js';
import { visiblePids } from './process-sight.js';

/** Large models take minutes to load. An engine that runs for longer makes no agent any more. */
const LONGEST_START_S = 30 * 60;
/** Without it an agent writes no ring. */
const DIRECTORY_VARIABLE = 'NIXL_TELEMETRY_DIR';
/** The unit of start times on every machine. */
const TICKS_PER_S = 100;

/**
 * Returns such as `2 vLLM instances are starting`; undefined if none is seen that would write into this directory. An instance is the
 * outermost process with the command of an engine: its workers have the same command line until they rename themselves.
 * `procDir`: for tests.
 */
export function startingEngines(directory: string, procDir = '/proc'): string | undefined {
  const upS = parseFloat(attempt(() => readFileSync(join(procDir, 'uptime'), 'latin1')) ?? '');
  const reader = new LineageReader([DIRECTORY_VARIABLE], procDir);
  const isComing = (pid: number, environment: ReadonlyMap<string, string> | undefined): boolean =>
    upS - Number(processStart(pid, procDir)) / TICKS_PER_S < LONGEST_START_S &&
    (environment === undefined || mayWriteInto(directory, environment.get(DIRECTORY_VARIABLE), pid, procDir));
  const counts = new Map<string, number>();
  for (const pid of visiblePids(procDir)) {
    const [own, ...ancestors] = reader.of(pid) ?? [];
    const name = own && engineStartedBy(own);
    if (name === undefined || ancestors.some((one) => engineStartedBy(one) === name)) continue;
    if (isComing(pid, own!.environment)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (counts.size === 0) return undefined;
  const texts = [...counts].map(([name, count]) => plural(count, `${name} instance`));
  const isOne = [...counts.values()].reduce((sum, count) => sum + count) === 1;
  return `${texts.join(' and ')} ${isOne ? 'is' : 'are'} starting`;
}

/** In another mount namespace the directory may have another name. */
function mayWriteInto(directory: string, named: string | undefined, pid: number, procDir: string): boolean {
  if (!named) return false;
  const mountsOf = (process: string): string | undefined =>
    attempt(() => readlinkSync(join(procDir, process, 'ns/mnt')));
  return resolve(named) === resolve(directory) || mountsOf(String(pid)) !== mountsOf('self');
}
