/** Checks of the rings of a directory: their headers, writers and consumers. Drains, locks and changes nothing. */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findWriters, inspectRing } from '../../shm-bridge/ring.js';
import type { RingInspection } from '../../shm-bridge/types.js';
import { plural } from '../../plural.js';
import { amount } from '../figures/formats.js';
import { filesBelow, statOf } from '../ring-files.js';
import type { Place } from './directory-checks.js';
import { type Finding, finding, listed, ok } from './finding.js';
import type { FindingName } from './findings.js';
import { lockHolders } from './locks.js';
import { seesAllProcesses, titleOf } from './processes.js';

export interface CheckedRing extends RingInspection {
  readonly agent: string;
  readonly path: string;
  /** User id of the file. */
  readonly owner: number | undefined;
  /** Pid of the process that writes it. */
  readonly writer?: number | undefined;
  /** Pid of the process that holds its lock. */
  readonly holder?: number | undefined;
}

/** Readings of a full ring, and their distance: together longer than the usual time between two drains. */
const LOOKS = 5;
const BETWEEN_LOOKS_MS = 60;

/** Returns the rings and files of a directory. `force`: also those on network file systems. */
export function ringsIn(place: Place, force: boolean): CheckedRing[] {
  const found = filesBelow(place.path, () => {}).map((agent) => {
    const file = path.join(place.path, agent);
    return { agent, path: file, owner: statOf(file, () => {})?.uid, ...inspectRing(file, { force }) };
  });
  const paths = found.map((ring) => ring.path);
  const [writers, holders] = [findWriters(paths), lockHolders(paths)];
  return found.map((ring, i) => ({ ...ring, writer: writers[i], holder: holders[i] }));
}

/** `force`: as in ringsIn(). */
export async function ringFindings(
  { title: subject }: Place,
  rings: readonly CheckedRing[],
  force: boolean,
): Promise<Finding[]> {
  if (rings.length === 0) {
    return [finding('no-rings', { subject, what: 'the directory has no rings', values: { DIR: subject } })];
  }
  const ready = rings.filter(({ state }) => state === 'ready');
  return [
    ...headerFindings(subject, rings),
    ...rightsFindings(subject, ready),
    ...writerFindings(subject, ready),
    ...(await drainFindings(subject, ready, force)),
  ];
}

const OF_STATES: Readonly<Record<string, FindingName>> = {
  incompatible: 'unknown-wire-version',
  corrupt: 'not-a-ring',
  denied: 'ring-unreadable',
  initializing: 'ring-starting',
};

function headerFindings(subject: string, rings: readonly CheckedRing[]): Finding[] {
  const versions = new Set(rings.flatMap(({ wireVersion }) => wireVersion ?? []));
  const ready = rings.filter(({ state }) => state === 'ready').length;
  const all = `${plural(ready, 'ring')} with wire version ${[...versions].sort().join(', ')}`;
  // Rings on a network file system are incompatible, too: a finding of the directory.
  const unusable = rings.filter(({ state, reason }) => state !== 'ready' && !reason.startsWith('on '));
  const byState = Object.entries(OF_STATES).flatMap(([state, name]) => {
    const found = unusable.filter((ring) => ring.state === state);
    return inOneFinding(name, subject, found, () => listed(found.map(({ agent, reason }) => `${agent}: ${reason}`)));
  });
  return [...(ready === 0 ? [] : [ok('rings', subject, all)]), ...byState];
}

function rightsFindings(subject: string, rings: readonly CheckedRing[]): Finding[] {
  const denied = rings.filter((ring) => !isWritable(ring.path));
  return inOneFinding('ring-not-writable', subject, denied, (names) => {
    return `user ${process.getuid!()} may not write ${names}, of user ${denied[0]!.owner}`;
  });
}

function writerFindings(subject: string, rings: readonly CheckedRing[]): Finding[] {
  const writers = new Set(rings.flatMap(({ writer }) => writer ?? []));
  const without = rings.filter(({ writer }) => writer === undefined);
  const written = rings.length - without.length;
  return [
    ...(written === 0
      ? []
      : [ok('writers', subject, `${plural(written, 'ring')} written by ${listed([...writers].map(titleOf))}`)]),
    ...inOneFinding(
      seesAllProcesses() ? 'writer-gone' : 'writer-unseen',
      subject,
      without,
      (names) => `no visible process writes ${names}`,
    ),
  ];
}

async function drainFindings(subject: string, rings: readonly CheckedRing[], force: boolean): Promise<Finding[]> {
  const full = rings.filter(isFull);
  const stuck = await undrainedOf(full, force);
  const moving = full.filter((ring) => !stuck.includes(ring));
  const holders = new Set(rings.flatMap(({ holder }) => holder ?? []));
  // A consumer of another PID namespace shows itself by its mark alone.
  const isHeld = ({ holder, consumed }: CheckedRing): boolean => holder !== undefined || consumed === true;
  const isUsed = ({ writer, pending }: CheckedRing): boolean => writer !== undefined || pending! > 0;
  const free = rings.filter((ring) => !full.includes(ring) && !isHeld(ring) && isUsed(ring));
  const pending = free.reduce((sum, ring) => sum + (ring.pending ?? 0), 0);
  const held = rings.filter(({ holder }) => holder !== undefined).length;
  return [
    ...(held === 0
      ? []
      : [ok('consumers', subject, `${plural(held, 'ring')} drained by ${listed([...holders].map(titleOf))}`)]),
    ...inOneFinding(
      'full-undrained',
      subject,
      stuck.filter(({ holder }) => holder === undefined),
      (names) => `full, and no consumer drains: ${names}`,
    ),
    ...[...holders].flatMap((pid) => {
      const found = stuck.filter(({ holder }) => holder === pid);
      const what = (names: string): string => `full, and held by ${titleOf(pid)}, which does not drain: ${names}`;
      return inOneFinding('full-held', subject, found, what);
    }),
    ...inOneFinding('full-at-times', subject, moving, (names) => `full for a moment: ${names}`),
    ...inOneFinding(
      'undrained',
      subject,
      free,
      (names) => `no consumer drains: ${names}; pending events: ${amount(pending)}`,
    ),
  ];
}

/** Returns the rings whose read position does not move. */
async function undrainedOf(rings: readonly CheckedRing[], force: boolean): Promise<readonly CheckedRing[]> {
  let still = rings;
  for (let look = 0; look < LOOKS && still.length > 0; look++) {
    await pause(BETWEEN_LOOKS_MS);
    still = still.filter((ring) => inspectRing(ring.path, { force }).readPos === ring.readPos);
  }
  return still;
}

const isFull = ({ pending, capacity }: RingInspection): boolean => pending !== undefined && pending === capacity! - 1;

/** Returns no finding for no ring. The values of the command are those of the first one. */
function inOneFinding(
  name: FindingName,
  subject: string,
  rings: readonly CheckedRing[],
  what: (names: string) => string,
): Finding[] {
  if (rings.length === 0) return [];
  const names = listed(rings.map(({ agent }) => agent));
  return [finding(name, { subject, what: what(names), values: valuesOf(subject, rings[0]!) })];
}

function valuesOf(subject: string, { agent, owner, holder }: CheckedRing): Record<string, string | number> {
  return { DIR: subject, FILE: path.join(subject, agent), UID: owner ?? 'OWNER', PID: holder ?? 'PID' };
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
