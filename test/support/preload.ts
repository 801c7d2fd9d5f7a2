/** Short C libraries, preloaded into real processes to cause rare events. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../cli/command.js';

/** Compiles a file of this folder. @returns the path for LD_PRELOAD; the test removes the library at its end. */
export function preloadable(file: string): string {
  const library = path.join(temporaryDirectory(), `${path.parse(file).name}.so`);
  const source = fileURLToPath(new URL(file, import.meta.url));
  const flags = ['-x', 'c', '-shared', '-fPIC', '-O2', '-Wall', '-Werror'];
  execFileSync(process.env['CXX'] ?? 'c++', [...flags, '-o', library, source, '-ldl']);
  return library;
}
