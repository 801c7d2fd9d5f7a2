/** Libraries of a few lines of C, preloaded into real processes to have them meet what is hard to come by. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../cli/command.js';

/** Compiles a file of this folder. @returns what LD_PRELOAD takes; it goes away after the test. */
export function preloadable(file: string): string {
  const library = path.join(temporaryDirectory(), `${path.parse(file).name}.so`);
  const source = fileURLToPath(new URL(file, import.meta.url));
  const flags = ['-x', 'c', '-shared', '-fPIC', '-O2', '-Wall', '-Werror'];
  execFileSync(process.env['CXX'] ?? 'c++', [...flags, '-o', library, source, '-ldl']);
  return library;
}
