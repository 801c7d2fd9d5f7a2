/** Real processes for tests: started, watched line by line, and ended with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { until } from '../support/until.js';

export { until };

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const MAIN = path.join(ROOT, 'dist/cli/main.js');
export const TRANSFER_SOURCE = path.join(ROOT, 'native/build/transfer-source');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

const undo: (() => void)[] = [];
afterEach(() => {
  while (undo.length > 0) undo.pop()!();
});

export class RunningCommand {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  readonly child: ChildProcess;
  #onChange = (): void => {};
  /** True later than the exit: all output of the process has then been read. */
  #isClosed = false;

  readonly #isGroup: boolean;

  /** `isGroup`: signals reach the processes that it starts as well, as from a terminal. */
  constructor(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = ROOT, isGroup = false) {
    this.#isGroup = isGroup;
    this.child = spawn(program, args, {
      cwd,
      detached: isGroup,
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    undo.push(() => this.#kill('SIGKILL'));
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#onChange();
    });
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#onChange();
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (code, signal) => {
        this.#isClosed = true;
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
        this.#onChange();
      });
    });
  }

  /** Waits until one of the streams holds the pattern. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (found !== null) return found;
      if (this.#isClosed) {
        throw new Error(`ended without saying ${pattern}:\n${this.stdout}${this.stderr}`);
      }
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }

  /** Stops the process, and waits until it stands still. SIGCONT continues it. */
  async pause(): Promise<void> {
    this.child.kill('SIGSTOP');
    await until(() => /^State:\tT/m.test(readFileSync(`/proc/${this.child.pid}/status`, 'utf8')));
  }

  /** Sends the signal and waits for the end. */
  stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Ended> {
    this.#kill(signal);
    return this.ended;
  }

  #kill(signal: NodeJS.Signals): void {
    if (!this.#isGroup) {
      this.child.kill(signal);
      return;
    }
    try {
      process.kill(-this.child.pid!, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: all processes have ended
    }
  }
}

export function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCommand {
  return new RunningCommand(process.execPath, [MAIN, ...args], env);
}

export function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return start(args, env).ended;
}

export function startTransferSource(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCommand {
  return new RunningCommand(TRANSFER_SOURCE, args, env);
}

/** Makes a directory that is removed after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-test-'));
  undo.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Returns the whole page. */
export async function scrape(url: string): Promise<string> {
  return (await fetch(url)).text();
}

/** Returns the sum over all series of a name with this text in their labels. */
export function valueOf(page: string, name: string, label = ''): number {
  const values = page
    .split('\n')
    .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(label))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
  return values.reduce((sum, value) => sum + value, 0);
}

/** Returns the environment without the variables of NIXL and OpenTelemetry that the machine may have. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NIXL|OTEL)_/.test(name)));
}
