/** Child process of the demo, which moves real memory and writes rings as agents do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Failure } from '../../process/failure.js';
import { transferSource } from '../transfer-source.js';

/**
 * Two agents in separate processes, about half a gigabyte per second in all: visible, and light on the machine. "Time by
 * size" draws a line through classes a factor of 16 apart. Below the rate of any memory, caches do not bend it.
 */
const FLAGS = [
  ['--agents', '2'],
  ['--processes', '2'],
  ['--rate', '120'],
  ['--sizes', '4k:30,64k:30,1M:30,16M:10'],
  ['--bandwidth', '1G'],
  ['--base-us', '15'],
  ['--seconds', '0'],
].flat();

/** Totals on the last line of the child. `written`: events that the rings accepted. */
export interface TransferTotals {
  written: number;
  transfersTx: number;
  transfersRx: number;
}

export class TransferSource {
  /** Settles when the child's rings exist. */
  readonly ready: Promise<void>;
  /** Settles at the child's end, with its totals unless it failed. */
  readonly ended: Promise<TransferTotals | undefined>;
  readonly #child: ChildProcess;

  /** Starts the child. @throws Failure if the package has no such program for this platform. */
  constructor(directory: string) {
    this.#child = spawn(
      transferSource(),
      [...FLAGS, '--dir', directory, '--ready', '--with-parent', String(process.pid)],
      {
        // Ctrl-C in the terminal reaches only this process, which stops the child and reads its last line.
        detached: true,
        env: ownEnvironment(),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    process.once('exit', this.kill);
    let lastLine = '';
    this.ended = new Promise((resolve) => {
      this.#child.once('error', () => resolve(undefined));
      this.#child.once('close', (code) => {
        resolve(code === 0 ? (JSON.parse(lastLine) as { totals: TransferTotals }).totals : undefined);
      });
    });
    this.ready = new Promise((resolve, reject) => {
      createInterface({ input: this.#child.stdout! }).on('line', (line) => {
        if (line === 'ready') resolve();
        lastLine = line;
      });
      void this.ended.then(() => reject(new Failure('transfer-source ended before its rings existed')));
    });
    this.ready.catch(() => {}); // without a listener a rejection would end the process
  }

  /** Ends the child after a last flush. */
  stop(): Promise<TransferTotals | undefined> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }

  /** Ends the child and its processes at once. */
  readonly kill = (): void => {
    process.off('exit', this.kill);
    this.#child.kill('SIGKILL');
  };
}

/** Removes NIXL's variables, which would change the rings of the demo. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('NIXL_')));
}
