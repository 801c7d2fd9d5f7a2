/**
 * Commands without a process of their own, for their words, findings and refusals. What is about processes (signals, pipes,
 * terminals, state over restarts) needs run() of command.ts.
 */
import { Writable } from 'node:stream';
import { diag } from '@opentelemetry/api';
import { run } from '../../src/cli/program.js';
import { setNoteFormat } from '../../src/process/output.js';
import { cleanEnvironment, type Ended } from './command.js';

/** A standard stream that is no terminal. */
class Captured extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** Commands share streams, variables and listeners of the process: one after the other. */
let last: Promise<unknown> = Promise.resolve();

/** Runs a command that ends by itself, as run() of command.ts does. */
export function runHere(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const ended = last.then(() => runAlone(args, env));
  last = ended.catch(() => {});
  return ended;
}

async function runAlone(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const [stdout, stderr] = [new Captured(), new Captured()];
  const { env: environment } = process;
  const exit = Object.getOwnPropertyDescriptor(process, 'exit')!;
  const streams = (['stdout', 'stderr'] as const).map((name) => {
    const before = Object.getOwnPropertyDescriptor(process, name)!;
    Object.defineProperty(process, name, { ...before, get: () => (name === 'stdout' ? stdout : stderr) });
    return () => Object.defineProperty(process, name, before);
  });
  const listeners = process.eventNames().flatMap((name) => process.rawListeners(name));
  process.env = { ...cleanEnvironment(), ...env };
  setNoteFormat('text');
  try {
    const code = await run(args);
    return { code, signal: null, stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.env = environment;
    Object.defineProperty(process, 'exit', exit);
    for (const restore of streams) restore();
    for (const name of process.eventNames()) {
      for (const one of process.rawListeners(name)) if (!listeners.includes(one)) process.off(name, one as () => void);
    }
    diag.disable();
  }
}
