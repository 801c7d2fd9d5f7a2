/**
 * A JSON file that serve keeps over its restarts, in `.nixl-otel/.serve` beside the rings. Written whole under another name, and
 * renamed. It takes no space that rings may need: an agent whose ring finds none is ended by the kernel.
 */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parsedJson, reasonOf } from '../../ground/errors.js';
import { bytesText } from '../../ground/figures/figure.js';
import { stateReserve } from '../../shm-bridge/place-space.js';
import { STATE_FOLDER } from '../../view/rings/ring-files.js';

/** The native part has a state file per ring beside it, and leaves folders alone. */
const OWN_FOLDER = '.serve';
const PAGE = 4096;
/** A folder in a directory with S_ISGID begins with that bit. */
const MODE_BITS = 0o5777;

/** What a file holds besides its version. `keptMs`: time of the figures. */
export interface DatedValue {
  readonly keptMs: number;
}

interface KeptFileOptions<Value extends DatedValue> {
  readonly name: string;
  /** A file of another version is not read. */
  readonly version: number;
  readonly mostBytes: number;
  /** Returns true if this is a value, whatever the file holds. */
  readonly isValue: (json: object) => json is Value;
  /** Returns directories of rings, the preferred one first. */
  readonly directories: () => readonly string[];
  /** Returns the bytes that rings of living agents there have not allocated yet. */
  readonly lackBytes: (directory: string) => number;
  readonly complain: (text: string) => void;
}

export class KeptFile<Value extends DatedValue> {
  readonly #options: KeptFileOptions<Value>;

  constructor(options: KeptFileOptions<Value>) {
    this.#options = options;
  }

  /** Returns the newest value in any of the directories. A file that holds none is reported and ignored. */
  read(): Value | undefined {
    const values = this.#options.directories().flatMap((directory) => this.#readIn(directory) ?? []);
    return values.sort((a, b) => b.keptMs - a.keptMs)[0];
  }

  /** Writes the value into the first directory that takes it. Returns false, and reports the reason, if none does. */
  write(value: Value): boolean {
    const { name, version, mostBytes, directories, complain } = this.#options;
    const text = `${JSON.stringify({ version, ...value })}\n`;
    const reasons: string[] = [];
    if (Buffer.byteLength(text) > mostBytes) reasons.push(`it has more than ${bytesText(mostBytes)}`);
    else {
      for (const directory of directories()) {
        const reason = this.#writeIn(directory, text);
        if (reason === undefined) return true;
        reasons.push(`${directory}: ${reason}`);
      }
    }
    if (reasons.length > 0) complain(`${name} is not kept over a restart: ${reasons[0]!}`);
    return false;
  }

  #readIn(directory: string): Value | undefined {
    const { name, version, mostBytes, isValue, complain } = this.#options;
    const file = path.join(directory, STATE_FOLDER, OWN_FOLDER, name);
    try {
      return inFolder(directory, false, (folder) => {
        const fd = openSync(path.join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        try {
          const info = fstatSync(fd);
          const json = info.isFile() && info.size <= mostBytes ? parsedJson(readFileSync(fd, 'utf8')) : undefined;
          if (typeof json !== 'object' || json === null) throw new Error('it is damaged');
          if (!('version' in json) || json.version !== version) throw new Error('it is of another version');
          if (!isValue(json)) throw new Error('it is damaged');
          return json;
        } finally {
          closeSync(fd);
        }
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') complain(`${file} is ignored: ${reasonOf(error)}`);
      return undefined;
    }
  }

  /** Returns the reason if the directory does not take the text. */
  #writeIn(directory: string, text: string): string | undefined {
    const { name, lackBytes } = this.#options;
    try {
      refuseWithoutSpace(directory, Buffer.byteLength(text), lackBytes(directory));
      inFolder(directory, true, (folder) => {
        const written = path.join(folder, `${name}.new`);
        // Left by a process that was killed while it wrote.
        rmSync(written, { force: true });
        try {
          writeFileSync(written, text, { flag: 'wx', mode: 0o600 });
          renameSync(written, path.join(folder, name));
        } catch (error) {
          rmSync(written, { force: true });
          throw error;
        }
      });
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }
}

/** As the native part does it for its state files. */
function refuseWithoutSpace(directory: string, bytes: number, lackBytes: number): void {
  const { blocks, bavail, bsize } = statfsSync(directory);
  if (blocks === 0) return; // without a limit
  // Two folders may have to be made.
  const needed = Math.ceil(bytes / PAGE) * PAGE + 2 * PAGE;
  const free = bavail * bsize;
  if (free >= needed + lackBytes + stateReserve(blocks * bsize)) return;
  throw new Error(`the file system has ${bytesText(free)} free, which agents may need`);
}

/**
 * Calls `work` with a path of the folder for files of serve. The path goes through a descriptor: in a directory of another user
 * a name may lead elsewhere at any time.
 * @throws Error if it cannot be opened, or others may change it
 */
function inFolder<T>(directory: string, make: boolean, work: (folder: string) => T): T {
  return inOwnFolder(path.join(directory, STATE_FOLDER), make, (folder) =>
    inOwnFolder(path.join(folder, OWN_FOLDER), make, work),
  );
}

function inOwnFolder<T>(folder: string, make: boolean, work: (folder: string) => T): T {
  if (make) makeFolder(folder);
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const { uid, mode } = fstatSync(fd);
    if (uid !== process.geteuid?.()) throw new Error(`its folder ${path.basename(folder)} is of user ${uid}`);
    if ((mode & MODE_BITS) !== 0o700) throw new Error(`its folder ${path.basename(folder)} is open to others`);
    return work(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
