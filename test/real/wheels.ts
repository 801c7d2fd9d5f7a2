/** Python packages from PyPI for tests, cached outside of the checkout. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { CACHE } from './go-tool.js';

const exec = promisify(execFile);

/**
 * Installs the wheels that a requirements file names with their hashes, without their dependencies: once for each state
 * of the file and each version of Python.
 * @returns the folder for PYTHONPATH
 * @throws with the output of `pip`
 */
export async function installWheels(requirements: string): Promise<string> {
  const { stdout: python } = await exec('python3', ['-VV']);
  const digest = createHash('sha256').update(python).update(readFileSync(requirements)).digest('hex');
  const folder = path.join(CACHE, `${path.basename(requirements, '.txt')}-${digest.slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  // Atomic: another run may install the same, and an interrupted one must not leave half of a package.
  const unfinished = `${folder}.${process.pid}`;
  const flags = ['--quiet', '--no-deps', '--require-hashes', '--only-binary=:all:', '--no-cache-dir', '--no-compile'];
  await exec('python3', ['-m', 'pip', 'install', ...flags, '--target', unfinished, '--requirement', requirements]);
  renameSync(unfinished, folder);
  return folder;
}
