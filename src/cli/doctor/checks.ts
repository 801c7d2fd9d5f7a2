/** All checks of `nixl-otel doctor`, in the order of an event's way: process, directory, rings, serve, receiver. */
import path from 'node:path';
import { attempt, NixlTelemetryError } from '../../ground/errors.js';
import { withNixlConfig } from '../../settings/nixl-config.js';
import { namedFile, resolve } from '../../settings/resolve.js';
import type { Resolution } from '../../settings/row.js';
import {
  ALL_SERVE_ROWS,
  listenAddresses,
  SERVE_ROWS,
  SERVE_SECTION,
  serveSettings,
  type ServeSettings,
} from '../../settings/serve-rows.js';
import { requireRings } from '../../shm-bridge/ring.js';
import { listens } from '../../serve/outputs/exporter-settings.js';
import { Failure } from '../../process/failure.js';
import { directoriesOf } from '../directory-option.js';
import { directoryFindings, type ExaminedPlace } from './directory-checks.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import type { ClientAccess } from '../../view/client/client.js';
import type { ServerAddress } from '../../view/client/server-address.js';
import { finding, type FindingValues, ok } from './finding.js';
import { lookAt, type NixlProcess, nixlProcesses } from './nixl-processes.js';
import { processFindings, ringDirectoryOf } from './process-checks.js';
import { reached } from './processes.js';
import { type CheckedRing, ringFindings, ringsIn } from './ring-checks.js';
import { addressFindings, localServe, serveFindings, type ServeToAsk } from './serve-checks.js';

/** Findings, and the things that they are about. */
export interface Examination {
  readonly findings: readonly DoctorFinding[];
  /** Undefined if they are wrong, or if only a process or a serve was looked at. */
  readonly settings?: Resolution;
  readonly processes: readonly NixlProcess[];
  readonly directories: readonly CheckedPlace[];
  /** Addresses at which a serve answers, or would. */
  readonly servers: readonly ServeToAsk[];
}

const NOTHING: Omit<Examination, 'findings'> = { processes: [], directories: [], servers: [] };

/** Checks a running serve. */
export async function examineServe(given: ServerAddress, access: ClientAccess): Promise<Examination> {
  return { ...NOTHING, findings: await serveFindings(given, access), servers: [{ given, access }] };
}

/**
 * Checks directories, the processes that use NIXL, and the outputs of serve. `given`: undefined for the directories of serve.
 * @throws NixlTelemetryError on a platform without rings
 */
export async function examineHost(given: readonly string[] | undefined): Promise<Examination> {
  requireRings();
  const settings = settingsOf(given);
  const { processes, hidden } = nixlProcesses();
  if (settings instanceof NixlTelemetryError) {
    const named = attempt(() => directoriesOf(given));
    const directories = checkedPlaces(named === undefined ? placesOf(processes) : named.map(placeAt), false);
    const findings = [wrongSetting(settings), ...(await findingsOf(processes, directories))];
    return { ...NOTHING, findings, processes, directories };
  }
  const places = placesIn(settings) ?? placesOf(processes);
  const unseen =
    places.length === 0 ? [finding('no-directory', { subject: 'settings', what: 'no directory is known' })] : [];
  const values = { DIR: places[0]?.title ?? 'DIR' };
  const checked = checkedPlaces(places, settings.get('force')!.value as boolean);
  const outputs = await examineOutputs(settings, values.DIR);
  const findings = [
    ...hiddenFindings(hidden, checked, values),
    ...(await findingsOf(processes, checked)),
    ...unseen,
    ...outputs.findings,
  ];
  return { findings, settings, processes, directories: checked, servers: outputs.servers };
}

/**
 * Checks one process and the directory that it was started with.
 * @throws NixlTelemetryError on a platform without rings
 */
export async function examineProcess(pid: number): Promise<Examination> {
  requireRings();
  const one = lookAt(pid);
  const [subject, values] = [`process ${pid}`, { PID: pid }];
  const only = (found: DoctorFinding): Examination => ({ ...NOTHING, findings: [found] });
  if (one === 'gone') return only(finding('no-process', { subject, what: 'there is no such process', values }));
  if (one === 'hidden') return only(finding('process-hidden', { subject, what: 'it cannot be examined', values }));
  const directories = checkedPlaces(placesOf([one]), false);
  const findings = await findingsOf([one], directories, true);
  if (!one.hasLibrary && findings.every(({ finding: name }) => name !== 'process')) {
    findings.unshift(finding('no-library', { subject: one.title, what: 'has not loaded the library of NIXL' }));
  }
  return { ...NOTHING, findings, processes: [one], directories };
}

export interface CheckedPlace {
  readonly place: ExaminedPlace;
  readonly findings: readonly DoctorFinding[];
  /** Undefined if the directory cannot be read. */
  readonly rings: readonly CheckedRing[] | undefined;
  /** Also rings on network file systems. */
  readonly force: boolean;
}

function checkedPlaces(places: readonly ExaminedPlace[], force: boolean): CheckedPlace[] {
  return places.map((place) => {
    const findings = directoryFindings(place, force);
    const isReadable = findings.some(({ finding: name }) => name === 'directory');
    return { place, findings, rings: isReadable ? ringsIn(place, force) : undefined, force };
  });
}

/** Processes that cannot be examined are a note only if one of them may be an agent: if a ring has no known process. */
function hiddenFindings(hidden: number, checked: readonly CheckedPlace[], values: FindingValues): DoctorFinding[] {
  if (hidden === 0) return [];
  const [subject, what] = ['processes', `processes of other users that cannot be examined: ${hidden}`];
  const rings = checked.flatMap((one) => one.rings ?? []);
  const areKnown = checked.every((one) => one.rings !== undefined && one.rings.length > 0);
  if (rings.length > 0 && areKnown && rings.every(({ writers }) => writers.length > 0)) {
    return [ok('processes', subject, `${what}; the process of each ring is known`)];
  }
  return [finding('processes-hidden', { subject, what, values })];
}

async function findingsOf(
  processes: readonly NixlProcess[],
  checked: readonly CheckedPlace[],
  isNamed = false,
): Promise<DoctorFinding[]> {
  const all = checked.flatMap(({ rings = [] }) => rings);
  const sights = {
    places: checked.map(({ place }) => place),
    writers: new Set(all.flatMap(({ writers }) => writers)),
    haveRings: all.length > 0,
    isNamed,
  };
  const found = processes.flatMap((one) => processFindings(one, sights));
  for (const { place, findings, rings, force } of checked) {
    found.push(...findings, ...(rings === undefined ? [] : await ringFindings(place, rings, force)));
  }
  return found;
}

/** Returns the directories that the settings name, also by globs; undefined if they name none. */
function placesIn(settings: Resolution): ExaminedPlace[] | undefined {
  const texts = (key: string): string[] | undefined => settings.get(key)?.value as string[] | undefined;
  const named = [...(texts('directories') ?? []), ...(texts('globs') ?? []).map((glob) => path.dirname(glob))];
  if (named.length === 0) return undefined;
  return [...new Set(named.map((one) => path.resolve(one)))].map(placeAt);
}

const placeAt = (title: string): ExaminedPlace => ({ title, path: title });

/** Returns the directories of rings that the processes write, or were started with. */
function placesOf(processes: readonly NixlProcess[]): ExaminedPlace[] {
  const agents = processes.filter(({ hasLibrary }) => hasLibrary);
  const places = new Map<string, ExaminedPlace>();
  // Programs without NIXL's library may write rings, too; but so may a shell have the variables.
  for (const one of agents.length > 0 ? agents : processes) {
    const written = one.rings.map((ring) => ({ title: path.dirname(ring.given), path: path.dirname(ring.path) }));
    for (const place of written.length > 0 ? written : startedWith(one)) places.set(place.path, place);
  }
  return [...places.values()];
}

function startedWith({ pid, environment = {} }: NixlProcess): ExaminedPlace[] {
  const directory = ringDirectoryOf(environment);
  if (directory === undefined) return [];
  const { given: title, path: reachable } = reached(pid, directory);
  return [{ title, path: reachable }];
}

function settingsOf(directories: readonly string[] | undefined): Resolution | NixlTelemetryError {
  try {
    const environment = withNixlConfig(process.env);
    const layers = { given: { directories }, givenBy: 'flag', environment } as const;
    return resolve(ALL_SERVE_ROWS, { ...layers, file: namedFile(layers, SERVE_SECTION) });
  } catch (error) {
    if (error instanceof NixlTelemetryError) return error;
    throw error;
  }
}

type Outputs = Pick<Examination, 'findings' | 'servers'>;

/** Checks what serve would do with the settings: listen, and push. */
async function examineOutputs(resolved: Resolution, directory: string): Promise<Outputs> {
  const settings = serveSettings(resolved);
  const server = listens(resolved) ? await examineServer(settings, directory) : { findings: [], servers: [] };
  const { otlpEndpoint } = SERVE_ROWS;
  const hasReceiver = otlpEndpoint.variables.some((one) => 'readBySdk' in one && process.env[one.name]);
  if (!settings.exporter.includes('otlp') && !resolved.has('otlpEndpoint') && !hasReceiver) return server;
  const { receiverChecks } = await import('./receiver-check.js');
  try {
    return { ...server, findings: [...server.findings, ...(await receiverChecks(settings))] };
  } catch (error) {
    if (!(error instanceof NixlTelemetryError) && !(error instanceof Failure)) throw error;
    return { ...server, findings: [...server.findings, wrongSetting(error)] };
  }
}

/** Checks the web configuration and the addresses of the HTTP server. */
async function examineServer(settings: ServeSettings, directory: string): Promise<Outputs> {
  const findings: DoctorFinding[] = [];
  let scheme: 'http' | 'https' = 'http';
  if (settings.webConfig !== undefined) {
    const { WebGate } = await import('../../serve/access/gate.js');
    try {
      scheme = new WebGate(settings.webConfig, true).tls === undefined ? 'http' : 'https';
    } catch (error) {
      if (!(error instanceof NixlTelemetryError)) throw error;
      findings.push(wrongSetting(error));
    }
  }
  const addresses = listenAddresses(settings);
  for (const address of addresses) findings.push(...(await addressFindings(address, scheme, directory)));
  const known = addresses.filter((address) => 'socketPath' in address || address.port !== 0);
  return { findings, servers: known.map((address) => localServe(address, scheme)) };
}

function wrongSetting({ message }: Error): DoctorFinding {
  return finding('wrong-setting', { subject: 'settings', what: message });
}
