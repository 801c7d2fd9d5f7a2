/** The program that the demo watches, as a child process: it moves real memory and writes rings as agents do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { findNativeFile, howToBuild, platformName } from '../../shm-bridge/native-files.js';
import { Failure } from '../process/failure.js';

/** Two agents in separate processes, together about half a gigabyte per second: visible, and a light load. */
const FLAGS = [
  ['--agents', '2'],
  ['--processes', '2'],
  ['--rate', '120'],
  ['--sizes', '64k:50,1M:40,16M:10'],
  ['--seconds', '0'],
].flat();

/** The part of its last line that is used here. Events are those that the rings accepted. */
export interface TransferTotals {
  written: number;
  transfersTx: number;
  transfersRx: number;
}

export class TransferSource {
  /** Settles when its rings are there. */
  readonly ready: Promise<void>;
  /** Settles when it has ended, with its totals if it ended well. */
  readonly ended: Promise<TransferTotals | undefined>;
  readonly #child: ChildProcess;

  /** @throws Failure when there is none for this platform. */
  constructor(directory: string) {
    const program = findNativeFile('transfer-source');
    if (program === undefined) throw new Failure(`no transfer-source for ${platformName()}; ${howToBuild()}`);
    this.#child = spawn(program, [...FLAGS, '--dir', directory, '--ready', '--with-parent', String(process.pid)], {
      // A Ctrl-C in the terminal is for us: we stop it, then read what it wrote last.
      detached: true,
      env: ownEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let lastLine = '';
    this.ended = new Promise((resolve) => {
      this.#child.once('error', () => resolve(undefined));
      this.#child.once('close', (code) => resolve(code === 0 ? totalsIn(lastLine) : undefined));
    });
    this.ready = new Promise((resolve, reject) => {
      createInterface({ input: this.#child.stdout! }).on('line', (line) => {
        if (line === 'ready') resolve();
        lastLine = line;
      });
      void this.ended.then(() => reject(new Failure('transfer-source ended before its rings were there')));
    });
    this.ready.catch(() => {}); // a rejection without a waiter would end the process
  }

  /** Lets it flush and end. */
  stop(): Promise<TransferTotals | undefined> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }

  /** At once. Its own children end with it. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** The demo's rings are the same in every environment: NIXL's variables would change them. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('NIXL_')));
}

function totalsIn(line: string): TransferTotals {
  return (JSON.parse(line) as { totals: TransferTotals }).totals;
}
