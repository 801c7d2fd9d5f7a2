/** A process that writes rings like an agent's, and lives until it is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { dist } from './child.js';

export interface RingOrder {
  readonly path: string;
  readonly wireVersion: number;
  readonly events: readonly {
    readonly type?: number;
    readonly name?: string;
    readonly category?: number;
    readonly value: number;
  }[];
  /** True: the process ends this ring after the events, and lives on. */
  readonly ends?: boolean;
}

/** Program that makes rings: each line on its stdin names a ring and the events to write into it. */
const PROGRAM = `
  import { createInterface } from 'node:readline';
  const { RingWriter } = await import(process.argv[1]);
  const writers = new Map();
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { path, wireVersion, events, ends } = JSON.parse(line);
    if (!writers.has(path)) writers.set(path, new RingWriter(path, { wireVersion }));
    for (const event of events) if (!writers.get(path).push(event)) throw new Error('the ring is full');
    if (ends) writers.get(path).close();
    console.log('done');
  });`;

export class RingProcess {
  readonly #child: ChildProcess;
  #answers = 0;
  #asked = 0;

  /** `atEnd`: when it is killed, in place of the end of the test. */
  constructor(env: Record<string, string> = {}, atEnd: (kill: () => void) => void = onTestFinished) {
    this.#child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, dist('rings.js')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], ...env },
    });
    this.#child.stdout!.on('data', (text: Buffer) => (this.#answers += text.toString().split('\n').length - 1));
    atEnd(() => void this.#child.kill('SIGKILL'));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Returns once the events are in the ring. */
  async write(order: RingOrder): Promise<void> {
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
    this.#asked++;
    while (this.#answers < this.#asked) await once(this.#child.stdout!, 'data');
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
