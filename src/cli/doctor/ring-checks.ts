/** Checks of the rings of a directory: their headers, writers and consumers. Drains, locks and changes nothing. */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { missingSights } from '../../shm-bridge/process-sight.js';
import { startingEngines } from '../../shm-bridge/starting-engines.js';
import { findWriters, inspectRing } from '../../shm-bridge/ring.js';
import type { RingInspection } from '../../shm-bridge/types.js';
import { plural } from '../../ground/figures/figure.js';
import { shortageIn } from '../../view/rings/directory-space.js';
import { filesBelow, statOf } from '../../view/rings/ring-files.js';
import type { ExaminedPlace } from './directory-checks.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { finding, firstThree, ok, type FindingValues } from './finding.js';
import type { FindingName } from './findings.js';
import { lockHolders } from '../../view/rings/ring-locks.js';
import { ageSeconds, titleOf } from './processes.js';
import { watchRings } from './ring-watch.js';

export interface CheckedRing extends RingInspection {
  readonly agent: string;
  readonly path: string;
  /** User id of the file. */
  readonly owner: number | undefined;
  /** Pids of the processes that can write it. */
  readonly writers: readonly number[];
  /** Pid of the process that holds its lock. */
  readonly holder?: number | undefined;
}

/** NIXL's default. */
const USUAL_SLOTS = 4096;
const MOST_SLOTS = 2 ** 24;

/** Returns the rings and files of a directory. `force`: also those on network file systems. */
export function ringsIn(place: ExaminedPlace, force: boolean): CheckedRing[] {
  const found = filesBelow(place.path, () => {}).map((agent) => {
    const file = path.join(place.path, agent);
    return { agent, path: file, owner: statOf(file, () => {})?.uid, ...inspectRing(file, { force }) };
  });
  const paths = found.map((ring) => ring.path);
  const [writers, holders] = [findWriters(paths), lockHolders(paths)];
  return found.map((ring, i) => ({ ...ring, writers: writers[i]!, holder: holders[i] }));
}

/** `force`: as in ringsIn(). */
export async function ringFindings(
  { title: subject, path: directory }: ExaminedPlace,
  rings: readonly CheckedRing[],
  force: boolean,
): Promise<DoctorFinding[]> {
  if (rings.length === 0) {
    const starting = startingEngines(directory);
    if (starting !== undefined) {
      const what = `the directory has no rings yet: ${starting}`;
      return [finding('rings-to-come', { subject, what, values: { DIR: subject } })];
    }
    return [finding('no-rings', { subject, what: 'the directory has no rings', values: { DIR: subject } })];
  }
  const ready = rings.filter(({ state }) => state === 'ready');
  const shortage = shortageIn(directory, rings);
  return [
    ...(shortage === undefined
      ? []
      : [finding('directory-nearly-full', { subject, what: `it has ${shortage}`, values: { DIR: subject } })]),
    ...headerFindings(subject, rings),
    ...rightsFindings(subject, ready),
    ...writerFindings(subject, ready),
    ...smallFindings(subject, ready),
    ...(await drainFindings(subject, ready, force)),
  ];
}

const OF_STATES: Readonly<Record<string, FindingName>> = {
  incompatible: 'unknown-wire-version',
  corrupt: 'not-a-ring',
  denied: 'ring-unreadable',
  initializing: 'ring-starting',
};

function headerFindings(subject: string, rings: readonly CheckedRing[]): DoctorFinding[] {
  const versions = new Set(rings.flatMap(({ wireVersion }) => wireVersion ?? []));
  const ready = rings.filter(({ state }) => state === 'ready').length;
  const all = `${plural(ready, 'ring')} with wire version ${[...versions].sort().join(', ')}`;
  // Rings on a network file system are incompatible, too: a finding of the directory.
  const unusable = rings.filter(({ state, reason }) => state !== 'ready' && !reason.startsWith('on '));
  const byState = Object.entries(OF_STATES).flatMap(([state, name]) => {
    const found = unusable.filter((ring) => ring.state === state);
    const texts = found.map(({ agent, reason }) => `${agent}: ${reason}`);
    return inOneFinding(name, subject, found, () => firstThree(texts));
  });
  return [...(ready === 0 ? [] : [ok('rings', subject, all)]), ...byState];
}

function rightsFindings(subject: string, rings: readonly CheckedRing[]): DoctorFinding[] {
  const denied = rings.filter((ring) => !isWritable(ring.path));
  return inOneFinding('ring-not-writable', subject, denied, (names) => {
    return `user ${process.getuid!()} may not write ${names}, of user ${denied[0]!.owner}`;
  });
}

function writerFindings(subject: string, rings: readonly CheckedRing[]): DoctorFinding[] {
  const writers = new Set(rings.flatMap((ring) => ring.writers));
  const without = rings.filter((ring) => ring.writers.length === 0);
  const written = rings.length - without.length;
  const missing = missingSights();
  const isHidden = missing.every(({ kind }) => kind !== 'namespace');
  const name = missing.length === 0 ? 'writer-gone' : isHidden ? 'writer-hidden' : 'writer-unseen';
  const reasons = missing.map(({ why }) => why);
  return [
    ...(written === 0
      ? []
      : [ok('writers', subject, `${plural(written, 'ring')} written by ${firstThree([...writers].map(titleOf))}`)]),
    ...inOneFinding(name, subject, without, (names) => [`no visible process writes ${names}`, ...reasons].join('; ')),
    ...sharedFindings(subject, rings),
  ];
}

/** A restart may overlap: for some seconds an agent and its successor have the ring mapped. */
const LONGEST_OVERLAP_S = 10;

function sharedFindings(subject: string, rings: readonly CheckedRing[]): DoctorFinding[] {
  return rings
    .filter(({ writers }) => writers.length > 1)
    .map((ring) => {
      const { agent, writers } = ring;
      const isNew = (ageSeconds(writers[0]!) ?? Infinity) < LONGEST_OVERLAP_S;
      return finding(isNew ? 'ring-passed-on' : 'ring-shared', {
        subject,
        what: `${writers.length} processes can write ${agent}: ${writers.map(titleOf).join(', ')}`,
        values: valuesOf(subject, [ring]),
      });
    });
}

/** By the header: the variables of an engine that renamed its process cannot be read. */
function smallFindings(subject: string, rings: readonly CheckedRing[]): DoctorFinding[] {
  const small = rings.filter(({ capacity }) => capacity! < USUAL_SLOTS);
  const counts = [...new Set(small.map(({ capacity }) => capacity!))].sort((a, b) => a - b).join(', ');
  return inOneFinding('small-buffer', subject, small, (names) => `rings of ${counts} slots: ${names}`);
}

async function drainFindings(subject: string, rings: readonly CheckedRing[], force: boolean): Promise<DoctorFinding[]> {
  const watched = await watchRings(rings, force);
  const full = rings.filter((ring) => watched.get(ring)!.wasFull);
  const stuck = full.filter((ring) => !watched.get(ring)!.hasMoved);
  const unheld = stuck.filter(({ holder }) => holder === undefined);
  const moving = full.filter((ring) => !stuck.includes(ring));
  const holders = new Set(rings.flatMap(({ holder }) => holder ?? []));
  const isUsed = ({ writers, pending }: CheckedRing): boolean => writers.length > 0 || pending! > 0;
  const free = rings.filter((ring) => !full.includes(ring) && !watched.get(ring)!.wasHeld && isUsed(ring));
  const events = plural(
    free.reduce((sum, { pending = 0 }) => sum + pending, 0),
    'event',
  );
  const held = rings.filter(({ holder }) => holder !== undefined).length;
  return [
    ...(held === 0
      ? []
      : [ok('consumers', subject, `${plural(held, 'ring')} drained by ${firstThree([...holders].map(titleOf))}`)]),
    ...inOneFinding('full-undrained', subject, unheld, (names) => `full, and no consumer drains: ${names}`),
    ...[...holders].flatMap((pid) => {
      const found = stuck.filter(({ holder }) => holder === pid);
      const what = (names: string): string => `full, and held by ${titleOf(pid)}, which does not drain: ${names}`;
      return inOneFinding('full-held', subject, found, what);
    }),
    ...inOneFinding('full-at-times', subject, moving, (names) => `full at times: ${names}`),
    ...inOneFinding('undrained', subject, free, (names) => `no consumer drains: ${names}; ${events} pending`),
  ];
}

/** Returns no finding for no ring. The command names all their files; its other values are those of the first one. */
function inOneFinding(
  name: FindingName,
  subject: string,
  rings: readonly CheckedRing[],
  what: (names: string) => string,
): DoctorFinding[] {
  if (rings.length === 0) return [];
  const names = firstThree(rings.map(({ agent }) => agent));
  return [finding(name, { subject, what: what(names), values: valuesOf(subject, rings) })];
}

function valuesOf(subject: string, rings: readonly CheckedRing[]): FindingValues {
  const { owner, holder } = rings[0]!;
  const files = rings.map(({ agent }) => path.join(subject, agent));
  const slots = Math.min(MOST_SLOTS, 4 * Math.max(...rings.map(({ capacity = USUAL_SLOTS }) => capacity)));
  return { DIR: subject, FILES: files, UID: owner ?? 'OWNER', PID: holder ?? 'PID', SLOTS: slots };
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
