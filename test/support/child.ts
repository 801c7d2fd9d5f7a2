/** Short programs in separate processes that use the built package: a test can count the rest that they leave. */
import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** Address of a built file for `import`. */
export function dist(file: string): string {
  return new URL(`../../dist/${file}`, import.meta.url).href;
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs an ES module to its end, with a constant `arg`. `through`: a command that starts it. */
export async function runProgram(
  source: string,
  arg: unknown = null,
  through: readonly string[] = [],
): Promise<Finished> {
  const program = `const arg = ${JSON.stringify(arg)};\n${source}`;
  const command = [...through, process.execPath, '--input-type=module', '--expose-gc', '-e', program];
  const child = spawn(command[0]!, command.slice(1), {
    cwd: new URL('../..', import.meta.url).pathname,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (text: Buffer) => (texts[name] += text.toString()));
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, ...texts };
}

/** Runs it like runProgram(). @returns its last line, parsed as JSON. */
export async function resultOf<T>(source: string, arg: unknown = null, through: readonly string[] = []): Promise<T> {
  const { code, stdout, stderr } = await runProgram(source, arg, through);
  if (code !== 0) throw new Error(`the program ended with ${code}: ${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as T;
}
