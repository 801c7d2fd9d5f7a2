/** Short C libraries, preloaded into real processes to cause rare events. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

/** For all tests of a file: the compiler takes longer than most of them. */
const folder = mkdtempSync(path.join(tmpdir(), 'nixl-otel-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles a file of this folder, once. @returns the path for LD_PRELOAD */
export function preloadable(file: string, name = path.parse(file).name): string {
  return compiled(file, `${name}.so`, ['-shared', '-fPIC']);
}

/** Compiles a file of this folder to a program, once. */
export function compiledProgram(file: string): string {
  return compiled(file, path.parse(file).name, []);
}

function compiled(file: string, name: string, flags: readonly string[]): string {
  const output = path.join(folder, name);
  if (existsSync(output)) return output;
  const source = fileURLToPath(new URL(file, import.meta.url));
  const all = ['-x', 'c', '-O2', '-Wall', '-Werror', ...flags];
  execFileSync(process.env['CXX'] ?? 'c++', [...all, '-o', output, source, '-ldl']);
  return output;
}
