/** `nixl-otel doctor --bundle`: one JSON file for a report of a bug. */
import { realpathSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { attempt, reasonOf } from '../../../ground/errors.js';
import { bytesText, plural } from '../../../ground/figures/figure.js';
import { PACKAGE_VERSION } from '../../../ground/package.js';
import { Failure } from '../../../process/failure.js';
import { INTERFACE_VERSION } from '../../../shm-bridge/addon.js';
import { requireRings } from '../../../shm-bridge/ring.js';
import type { FindingStatus } from '../../../view/answers/doctor-finding.js';
import { credentialsIn } from '../../../view/client/server-address.js';
import { table } from '../../../view/figures/table.js';
import type { Examination } from '../checks.js';
import { bundledDirectory } from './bundled-directory.js';
import { processTrees } from './process-trees.js';
import { REMOVED, Secrets, secretsIn } from './secrets.js';
import { servedAnswers } from './served-answers.js';

/** Limit of one entry: a larger one is left out. */
const MOST_ENTRY_BYTES = 8 * 2 ** 20;
const MOST_PROCESSES = 500;

interface Entry {
  readonly name: string;
  readonly what: string;
  readonly value: unknown;
}

/** Writes the file. Returns what is in it, for people. @throws Failure */
export async function writeBundle(file: string, seen: Examination): Promise<string> {
  const directories = seen.directories.map(({ place }) => place.path);
  if (directories.some((directory) => isBelow(directory, file))) {
    throw new Failure(
      `${file} would be among the rings, where agents and readers take it for one; name another folder`,
    );
  }
  const secrets = new Secrets(knownSecrets(seen));
  const kept = (await entriesOf(seen)).map((entry) => withinBounds({ ...entry, value: secrets.without(entry.value) }));
  const text = `${JSON.stringify(Object.fromEntries(kept.map(({ name, value }) => [name, value])), undefined, 2)}\n`;
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new Failure(
      `${file} cannot be written: ${isThere ? 'it exists, and doctor overwrites no file' : reasonOf(error)}`,
    );
  }
  const rows = kept.map(({ name, bytes, what }) => [name, bytesText(bytes), what]);
  return [
    table(['ENTRY', 'SIZE', 'WHAT'], rows),
    `wrote ${file}: ${bytesText(Buffer.byteLength(text))}, readable by this user alone`,
    'It has paths, host names, process ids, and names of agents and models.',
    `Passwords, tokens, headers and the users of addresses, as far as doctor knows them, read "${REMOVED}":`,
    'look through the file before you send it.',
  ].join('\n');
}

async function entriesOf(seen: Examination): Promise<Entry[]> {
  const { findings, settings, processes, directories, servers } = seen;
  const count = (status: FindingStatus): number => findings.filter((one) => one.status === status).length;
  const bundled = directories.map(bundledDirectory);
  const rings = directories.flatMap((one) => one.rings ?? []);
  const pids = [...new Set([...rings.flatMap(({ writers }) => writers), ...processes.map(({ pid }) => pid)])];
  const trees = processTrees(pids.slice(0, MOST_PROCESSES));
  const serves = await Promise.all(servers.map(servedAnswers));
  const answering = serves.filter(({ answers }) => answers !== undefined).length;
  return [
    { name: 'versions', what: 'this package, Node.js, kernel, native part', value: versions() },
    {
      name: 'settings',
      what: settings === undefined ? 'none: they were not read, or are wrong' : 'values in force and their origins',
      value: { values: settings && Object.fromEntries(settings), variablesSet: variablesSet() },
    },
    {
      name: 'findings',
      what: `${plural(count('problem'), 'problem')}, ${plural(count('note'), 'note')}, ${count('ok')} ok`,
      value: findings,
    },
    {
      name: 'directories',
      what: `${plural(rings.length, 'header')} of rings, and the files of state beside them; no events`,
      value: bundled,
    },
    {
      name: 'processes',
      what: `${plural(trees.length, 'process', 'processes')}: writers of rings, users of NIXL, their ancestors; variables only of NIXL and UCX`,
      value: { usersOfNixl: pids.length, trees },
    },
    {
      name: 'serves',
      what: `a serve answered at ${answering} of ${plural(servers.length, 'address', 'addresses')}: readiness, agents, incidents`,
      value: serves,
    },
  ];
}

function versions(): unknown {
  let nativePart: string | number = INTERFACE_VERSION;
  try {
    requireRings();
  } catch (error) {
    nativePart = reasonOf(error);
  }
  return {
    taken: new Date().toISOString(),
    package: PACKAGE_VERSION,
    nativePartInterface: nativePart,
    node: process.version,
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    user: { uid: process.getuid?.(), gid: process.getgid?.() },
  };
}

/** Names alone: the settings have the values that count, and others may be secrets. */
function variablesSet(): string[] {
  return Object.keys(process.env)
    .filter((name) => /^(NIXL|OTEL|UCX)_/.test(name))
    .sort();
}

function knownSecrets({ servers }: Examination): string[] {
  const given = servers.flatMap(({ given: { url }, access }) => {
    const both = access.credentials ?? credentialsIn(url) ?? '';
    return [both, both.slice(both.indexOf(':') + 1), access.key ?? ''];
  });
  return [...secretsIn(process.env), ...given];
}

interface WrittenEntry extends Entry {
  readonly bytes: number;
}

function withinBounds(entry: Entry): WrittenEntry {
  const bytes = sizeOf(entry.value);
  if (bytes <= MOST_ENTRY_BYTES) return { ...entry, bytes };
  const value = `left out: ${bytesText(bytes)}, more than ${bytesText(MOST_ENTRY_BYTES)}`;
  return { ...entry, value, what: value, bytes: sizeOf(value) };
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value, undefined, 2));
}

function isBelow(directory: string, file: string): boolean {
  const folder = attempt(() => realpathSync(path.dirname(file)));
  const real = attempt(() => realpathSync(directory));
  return folder !== undefined && real !== undefined && (folder === real || folder.startsWith(`${real}/`));
}
