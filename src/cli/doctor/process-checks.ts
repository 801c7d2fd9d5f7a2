/** Checks of the processes that use NIXL: the variables that they were started with, their namespaces and rights. */
import { shown } from '../../arguments.js';
import { nixlExporter, onOrOff } from '../../settings/nixl-variables.js';
import type { Environment } from '../../settings/row.js';
import { Refusal } from '../../settings/shape.js';
import type { Place } from './directory-checks.js';
import { type Finding, finding, ok } from './finding.js';
import type { FindingName } from './findings.js';
import { isSameFile, mayCreateIn, type NixlProcess, reached, rightsOf, statsOf } from './processes.js';

/** NIXL's default. */
const USUAL_SLOTS = 4096;
const USUAL_DIRECTORY = '/dev/shm/nixl';

/**
 * Returns the directory of the rings of a process, as its variables name it; undefined without one, or with an exporter that
 * writes no ring.
 */
export function ringDirectoryOf({ environment }: NixlProcess): string | undefined {
  const kind = nixlExporter(environment)?.kind ?? 'buffer';
  if (kind !== 'buffer') return undefined;
  const { NIXL_TELEMETRY_DIR: directory, NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: output } = environment;
  return directory || (nixlExporter(environment) && output) || undefined;
}

/** `places`: the directories that the reader looks into. `writes`: whether the process writes a ring in one of them. */
export function processFindings(one: NixlProcess, places: readonly Place[], writes: boolean): Finding[] {
  const subject = one.title;
  const small = smallBuffer(one);
  if (writes) return [...small, ok('process', subject, 'writes a ring')];
  const wrong = [...switchFindings(one, places), ...directoryOf(one, places)];
  if (wrong.length > 0 || !one.hasLibrary) return [...wrong, ...small];
  const values = { DIR: places[0]?.title ?? USUAL_DIRECTORY };
  return [...small, finding('no-ring-of-process', { subject, what: 'has the right variables, and no ring', values })];
}

/** A process that has the variables and not the library may be a shell, or a service that reads rings. */
function suspicion(
  { title: subject, hasLibrary }: NixlProcess,
  name: FindingName,
  what: string,
  values: Readonly<Record<string, string | number>> = {},
): Finding {
  return finding(name, { subject, what, values, ...(hasLibrary ? {} : { status: 'note' }) });
}

function switchFindings(one: NixlProcess, places: readonly Place[]): Finding[] {
  const { environment } = one;
  const values = { DIR: ringDirectoryOf(one) ?? places[0]?.title ?? USUAL_DIRECTORY };
  const exporter = environment['NIXL_TELEMETRY_EXPORTER'];
  const off = offBy(environment);
  return [
    ...(off === undefined ? [] : [suspicion(one, 'telemetry-off', off, values)]),
    ...((nixlExporter(environment)?.kind ?? 'buffer') === 'buffer'
      ? []
      : [suspicion(one, 'other-exporter', `was started with NIXL_TELEMETRY_EXPORTER=${exporter}`)]),
  ];
}

function offBy({ NIXL_TELEMETRY_ENABLE: given }: Environment): string | undefined {
  if (!given) return 'was started without NIXL_TELEMETRY_ENABLE';
  try {
    return onOrOff(given) ? undefined : `was started with NIXL_TELEMETRY_ENABLE=${given}`;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `was started with NIXL_TELEMETRY_ENABLE=${given}; allowed: ${error.message}`;
  }
}

function directoryOf(one: NixlProcess, places: readonly Place[]): Finding[] {
  const { environment, pid } = one;
  if ((nixlExporter(environment)?.kind ?? 'buffer') !== 'buffer') return [];
  const named = ringDirectoryOf(one);
  if (named === undefined) {
    const values = { DIR: places[0]?.title ?? USUAL_DIRECTORY };
    return [suspicion(one, 'directory-unset', 'was started without NIXL_TELEMETRY_DIR', values)];
  }
  const { given, path } = reached(pid, named);
  const values = { DIR: given };
  const namesPlace = places.find(({ title }) => title === given);
  if (namesPlace !== undefined && namesPlace.path !== path && !isSameFile(namesPlace.path, path)) {
    return [suspicion(one, 'other-mount', `has another ${given} than this process`, values)];
  }
  if (namesPlace === undefined && !places.some((place) => isSameFile(place.path, path))) {
    const what = `was started with NIXL_TELEMETRY_DIR=${named}, not ${places.map(({ title }) => title).join(', ')}`;
    return [suspicion(one, 'directory-elsewhere', what, values)];
  }
  return mayNotWrite(one, path, values);
}

function mayNotWrite(one: NixlProcess, path: string, { DIR }: { DIR: string }): Finding[] {
  const [rights, stats] = [rightsOf(one.pid), statsOf(path)];
  if (rights === undefined || stats === undefined || mayCreateIn(stats, rights)) return [];
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  const what = `runs as user ${rights.user}, which may not create files in ${DIR}, mode ${mode} of user ${stats.uid}`;
  return [suspicion(one, 'agent-may-not-write', what, { UID: rights.user, DIR })];
}

function smallBuffer({ title: subject, environment }: NixlProcess): Finding[] {
  const given = environment['NIXL_TELEMETRY_BUFFER_SIZE'];
  if (!given || !(Number(given) < USUAL_SLOTS)) return [];
  return [finding('small-buffer', { subject, what: `was started with NIXL_TELEMETRY_BUFFER_SIZE=${shown(given)}` })];
}
