/** The real NIXL agents `prefill` and `decode`, in one process that agents.py runs. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';

const PROGRAM = new URL('nixl/agents.py', import.meta.url).pathname;

/** By agent and series, such as `prefill agent_errors_total not_found`; without zeros. */
export type Sums = Record<string, number>;

export interface AgentsOptions {
  /** PYTHONPATH with the packages of NIXL and NumPy. */
  packages: string;
  /** Directory of the rings. */
  directory: string;
  /** File with the number of finished transfers. */
  progress: string;
  /** Slots of a ring. By default so many that a killed serve may be away for some seconds. */
  bufferSize?: number;
}

export class NixlAgents {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #progress: string;
  readonly #answers: AsyncIterator<string>;
  readonly #ended: Promise<number | NodeJS.Signals | null>;
  #errorText = '';

  /** Starts both agents, and waits until their memory is registered. */
  static async start(options: AgentsOptions): Promise<NixlAgents> {
    const agents = new NixlAgents(options);
    await agents.answer();
    return agents;
  }

  private constructor({ packages, directory, progress, bufferSize = 65536 }: AgentsOptions) {
    this.#progress = progress;
    this.#child = spawn('python3', [PROGRAM, progress], {
      env: {
        ...process.env,
        PYTHONPATH: packages,
        NIXL_LOG_LEVEL: 'FATAL',
        NIXL_TELEMETRY_ENABLE: 'y',
        NIXL_TELEMETRY_DIR: directory,
        NIXL_TELEMETRY_BUFFER_SIZE: String(bufferSize),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
    this.#child.stdin.on('error', () => {}); // the process has ended
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errorText += text));
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => resolve(signal ?? code));
    });
  }

  say(command: string): void {
    this.#child.stdin.write(`${command}\n`);
  }

  /** Returns what the program has asked of its agents since their start. @throws when it has ended */
  async answer(): Promise<Sums> {
    for (;;) {
      const next = await this.#answers.next();
      if (next.done === true) throw new Error(`agents.py ended with ${await this.#ended}:\n${this.#errorText}`);
      if (!next.value.startsWith('{')) continue; // a log line of NIXL
      const byAgent = JSON.parse(next.value) as Record<string, Sums>;
      return Object.fromEntries(
        Object.entries(byAgent).flatMap(([agent, sums]) =>
          Object.entries(sums).map(([series, sum]) => [`${agent} ${series}`, sum]),
        ),
      );
    }
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Number of transfers that have finished, also of a killed process. */
  get finished(): number {
    return Number(readFileSync(this.#progress).readBigUInt64LE());
  }

  /** Sends the signal, or without one the command to end. @returns the exit code or the signal. */
  end(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    if (signal === undefined) this.say('end');
    else this.#child.kill(signal);
    return this.#ended;
  }
}
