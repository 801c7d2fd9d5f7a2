/** The attribute `service.instance.id`: it tells the series of one serve from those of all others. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { addon, type Handle } from '../../shm-bridge/addon.js';
import { readProcessIdentity } from '../../shm-bridge/process-identity.js';
import type { SourceOptions } from '../../shm-bridge/types.js';
import { note } from '../../process/output.js';
import { attempt } from '../../ground/errors.js';

/** Namespace that OpenTelemetry's semantic conventions give for ids made of names. */
const NAMESPACE = '4d63009a-8d0f-11ee-aad7-4c796ed8e320';

/** Places of rings, as the options `directories` and `globs` have them. */
export type RingPlaces = Pick<SourceOptions, 'directories' | 'globs'>;

/**
 * The id belongs to the host and to the directories of rings, so that it stays the same after a restart, as the counts do.
 * It is used only while this process has locked the directories. Until then, the id is one of this process alone: two
 * processes that export under one id look like counters that jump.
 */
export class InstanceId {
  readonly #directories: readonly string[];
  readonly #globs: readonly string[];
  readonly #random = randomUUID();
  #stable: string | undefined;
  /** By device and inode: a directory may have several names. Held until this process ends. */
  readonly #locks = new Map<string, Handle>();
  #isNoted = false;

  constructor({ directories = [], globs = [] }: RingPlaces) {
    this.#directories = directories;
    this.#globs = globs;
  }

  /** Tries to lock the directories at each call, until it has all that exist. */
  current(): string {
    return (this.#stable ??= this.#locked()) ?? this.#random;
  }

  #locked(): string | undefined {
    for (const directory of [...this.#directories, ...this.#globs.map((glob) => path.dirname(glob))]) {
      const file = statSync(directory, { throwIfNoEntry: false });
      if (file === undefined || this.#locks.has(`${file.dev}:${file.ino}`)) continue;
      const lock = addon().lockDirectory(directory);
      if (typeof lock === 'string') return this.#failed(`${directory} is ${lock}`);
      this.#locks.set(`${file.dev}:${file.ino}`, lock);
    }
    if (this.#locks.size === 0) return undefined;
    const id = uuidOf([...hostParts(), ...[...new Set([...this.#directories, ...this.#globs].map(realPath))].sort()]);
    if (this.#isNoted) note(`reports as service.instance.id=${id} from now on`);
    return id;
  }

  #failed(problem: string): undefined {
    if (!this.#isNoted)
      note(`${problem}: reports as service.instance.id=${this.#random}, which the next start changes`);
    this.#isNoted = true;
  }
}

/** Version 5: a SHA-1 of the namespace and the parts. A hash, because a machine-id is confidential. */
export function uuidOf(parts: readonly string[]): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(NAMESPACE.replaceAll('-', ''), 'hex'))
    .update(JSON.stringify(parts))
    .digest();
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A container may have no machine-id, or that of its image; its boot-id is that of the host. */
function hostParts(): string[] {
  const podUid = readProcessIdentity('self')?.podUid;
  if (podUid !== undefined) return [podUid];
  return [textOf('/etc/machine-id') || textOf('/proc/sys/kernel/random/boot_id'), os.hostname()];
}

function textOf(file: string): string {
  return attempt(() => readFileSync(file, 'utf8').trim()) ?? '';
}

/** Returns the real path as far as it exists: the last part of a glob does not. */
function realPath(place: string): string {
  const absolute = path.resolve(place);
  const real = attempt(() => realpathSync(absolute));
  const parent = path.dirname(absolute);
  if (real !== undefined || absolute === parent) return real ?? absolute;
  return path.join(realPath(parent), path.basename(absolute));
}
