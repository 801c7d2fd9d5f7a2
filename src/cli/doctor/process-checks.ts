/** Checks of the processes that use NIXL: the variables that they were started with, their namespaces and rights. */
import path from 'node:path';
import { nixlExporter, onOrOff } from '../../settings/nixl-variables.js';
import type { Environment } from '../../settings/row.js';
import { Refusal } from '../../settings/shape.js';
import { deletedFindings } from './deleted-rings.js';
import type { ExaminedPlace } from './directory-checks.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { finding, ok } from './finding.js';
import type { FindingName } from './findings.js';
import type { NixlProcess } from './nixl-processes.js';
import type { ProcessConfig } from './process-config.js';
import { statsOf } from '../../view/rings/ring-locks.js';
import { isSameFile, mayCreateIn, reached, rightsOf } from './processes.js';

const USUAL_DIRECTORY = '/dev/shm/nixl';

/** Directories that the reader looks into. */
export interface Sights {
  readonly places: readonly ExaminedPlace[];
  /** Processes that write a ring in one of them. */
  readonly writers: ReadonlySet<number>;
  /** False if no place has a ring: then agents that write elsewhere may be those that the user means. */
  readonly haveRings: boolean;
  /** True if the user named the process: its mistakes are problems, as those of an agent. */
  readonly isNamed: boolean;
}

/**
 * Returns the directory of the rings of a process, as its variables name it; undefined without one, or with an exporter that
 * writes no ring.
 */
export function ringDirectoryOf(environment: Environment): string | undefined {
  if (!writesRings(environment)) return undefined;
  const { NIXL_TELEMETRY_DIR: directory, NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: output } = environment;
  return directory || (nixlExporter(environment) && output) || undefined;
}

function writesRings(environment: Environment): boolean {
  return (nixlExporter(environment)?.kind ?? 'buffer') === 'buffer';
}

export function processFindings(one: NixlProcess, sights: Sights): DoctorFinding[] {
  const own = ringDirectoryOf(one.environment ?? {});
  const directories = [...sights.places.map(({ title }) => title), ...(own ? [reached(one.pid, own).given] : [])];
  const deleted = deletedFindings(one, directories);
  return deleted.length > 0 && one.rings.length === 0 ? deleted : [...deleted, ...settingFindings(one, sights)];
}

function settingFindings(one: NixlProcess, sights: Sights): DoctorFinding[] {
  const { title: subject, environment } = one;
  const { places, writers, haveRings, isNamed } = sights;
  if (writers.has(one.pid)) return [ok('process', subject, 'writes a ring')];
  if (one.rings.some(({ path }) => placeOf(path, places))) return [ok('process', subject, INHERITED)];
  if (one.rings.length > 0) return elsewhere(one, sights);
  if (!one.hasLibrary && !isNamed) return [];
  if (environment === undefined) return withoutEnvironment(one, sights);
  if (one.config?.problem !== undefined) return configFindings(one, one.config, isNamed);
  if (haveRings && isOfAnother(one, environment, places)) return [];
  const stops = stopFindings(one, environment);
  if (stops.length > 0) return stops;
  if (haveRings && !one.hasAgent && !isNamed) return [ok('process', subject, NO_AGENT)];
  const wrong = [...switchFindings(one, environment, sights), ...directoryOf(one, environment, sights)];
  if (wrong.length > 0) return wrong;
  if (one.hasLibrary && !one.hasAgent) return [ok('process', subject, NO_AGENT)];
  const values = { DIR: usualDirectory(sights) };
  return [finding('no-ring-of-process', { subject, what: 'has the right variables, and no ring', values })];
}

const INHERITED = 'maps a ring and is not seen to write it, as a child that inherited it';
const NO_AGENT = "has loaded NIXL's library and no plug-in of a backend: it seems to have made no agent";

/** Nothing is known of the settings of an engine that renamed its process. */
function withoutEnvironment({ title: subject, hasLibrary, hasAgent }: NixlProcess, sights: Sights): DoctorFinding[] {
  if (hasLibrary && !hasAgent) return [ok('process', subject, NO_AGENT)];
  const what =
    'writes no ring, and its variables cannot be read: it overwrote them, as engines that rename themselves do';
  return [finding('no-ring-of-process', { subject, what, values: { DIR: usualDirectory(sights) } })];
}

/** Nothing is known of its other settings: they may be in the file. */
function configFindings(one: NixlProcess, config: ProcessConfig, isNamed: boolean): DoctorFinding[] {
  const { file, problem, isRefused } = config;
  const what = `its configuration file of NIXL, ${file}, cannot be used: ${problem}`;
  const status = isRefused && (one.hasAgent || isNamed) ? {} : ({ status: 'note' } as const);
  return [finding('nixl-config', { subject: one.title, what, values: { FILE: file }, ...status })];
}

function usualDirectory({ places }: Sights): string {
  return places[0]?.title ?? USUAL_DIRECTORY;
}

/** Agents of another deployment are none of the reader's business while its own directories have rings. */
function elsewhere({ title: subject, rings }: NixlProcess, { places, haveRings }: Sights): DoctorFinding[] {
  const undrained = rings.filter(({ isConsumed }) => !isConsumed);
  const [first] = haveRings ? undrained : rings;
  if (first === undefined) return [];
  const directory = path.dirname(first.given);
  const what = `writes a ring in ${directory}, not in ${places.map(({ title }) => title).join(', ')}`;
  const status = haveRings ? 'note' : undefined;
  return [finding('directory-elsewhere', { subject, what, values: { DIR: directory }, ...(status && { status }) })];
}

function placeOf(file: string, places: readonly ExaminedPlace[]): ExaminedPlace | undefined {
  for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const found = places.find((place) => isSameFile(place.path, folder));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isOfAnother({ pid }: NixlProcess, environment: Environment, places: readonly ExaminedPlace[]): boolean {
  const directory = ringDirectoryOf(environment);
  return directory !== undefined && !isPlace(reached(pid, directory).path, places);
}

function isPlace(directory: string, places: readonly ExaminedPlace[]): boolean {
  return places.some(({ path: place }) => place === directory || isSameFile(place, directory));
}

/** Without an agent a mistake may be meant, and of no effect. */
function suspicion(
  { title: subject, hasAgent }: NixlProcess,
  { isNamed }: Sights,
  name: FindingName,
  what: string,
  values: Readonly<Record<string, string | number>> = {},
): DoctorFinding {
  return finding(name, { subject, what, values, ...(hasAgent || isNamed ? {} : { status: 'note' }) });
}

function switchFindings(one: NixlProcess, environment: Environment, sights: Sights): DoctorFinding[] {
  const values = { DIR: ringDirectoryOf(environment) ?? usualDirectory(sights) };
  const exporter = environment['NIXL_TELEMETRY_EXPORTER'];
  const { NIXL_TELEMETRY_ENABLE: enable } = environment;
  const off = {
    undefined: () => [suspicion(one, sights, 'telemetry-off', 'was started without NIXL_TELEMETRY_ENABLE', values)],
    false: () => [
      suspicion(one, sights, 'telemetry-vetoed', `was started with NIXL_TELEMETRY_ENABLE=${enable}`, values),
    ],
  }[String(isEnabled(environment))];
  return [
    ...(off?.() ?? []),
    ...(writesRings(environment)
      ? []
      : [suspicion(one, sights, 'other-exporter', `was started with NIXL_TELEMETRY_EXPORTER=${exporter}`)]),
  ];
}

/** Returns true for on, false for off, undefined without the variable, or the words that NIXL knows. */
function isEnabled({ NIXL_TELEMETRY_ENABLE: given }: Environment): boolean | undefined | string {
  if (given === undefined) return undefined;
  try {
    return onOrOff(given);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.message;
  }
}

/** Returns what stops an agent at its start, however it is named. */
function stopFindings({ title: subject }: NixlProcess, environment: Environment): DoctorFinding[] {
  const found = (name: FindingName, variable: string, more = ''): DoctorFinding[] => {
    return [finding(name, { subject, what: `was started with ${variable}=${environment[variable]}${more}` })];
  };
  const { NIXL_TELEMETRY_BUFFER_SIZE: size, NIXL_TELEMETRY_EXPORTER: exporter = '' } = environment;
  const enabled = isEnabled(environment);
  if (typeof enabled === 'string') return found('wrong-enable', 'NIXL_TELEMETRY_ENABLE', `; allowed: ${enabled}`);
  if (enabled === false) return [];
  return [
    ...(exporter !== 'BUFFER' && exporter.toUpperCase() === 'BUFFER'
      ? found('wrong-exporter', 'NIXL_TELEMETRY_EXPORTER')
      : []),
    ...(size === undefined || isPowerOfTwo(size)
      ? []
      : found(Number(size) > 0 ? 'wrong-buffer-size' : 'no-buffer-size', 'NIXL_TELEMETRY_BUFFER_SIZE')),
  ];
}

function isPowerOfTwo(text: string): boolean {
  return /^\d+$/.test(text) && Number.isInteger(Math.log2(Number(text)));
}

function directoryOf(one: NixlProcess, environment: Environment, sights: Sights): DoctorFinding[] {
  const { places } = sights;
  if (!writesRings(environment)) return [];
  const named = ringDirectoryOf(environment);
  if (named === undefined) {
    const values = { DIR: usualDirectory(sights) };
    return [suspicion(one, sights, 'directory-unset', 'was started without NIXL_TELEMETRY_DIR', values)];
  }
  const { given, path: reachable } = reached(one.pid, named);
  const values = { DIR: given };
  if (isPlace(reachable, places)) return mayNotWrite(one, sights, reachable, values);
  if (places.some(({ title }) => title === given)) {
    return [suspicion(one, sights, 'other-mount', `has another ${given} than this process`, values)];
  }
  const what = `was started with NIXL_TELEMETRY_DIR=${named}, not ${places.map(({ title }) => title).join(', ')}`;
  return [suspicion(one, sights, 'directory-elsewhere', what, values)];
}

function mayNotWrite(one: NixlProcess, sights: Sights, directory: string, { DIR }: { DIR: string }): DoctorFinding[] {
  const [rights, stats] = [rightsOf(one.pid), statsOf(directory)];
  if (rights === undefined || stats === undefined || mayCreateIn(stats, rights)) return [];
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  const what = `runs as user ${rights.user}, which may not create files in ${DIR}, mode ${mode} of user ${stats.uid}`;
  return [suspicion(one, sights, 'agent-may-not-write', what, { UID: rights.user, DIR })];
}
