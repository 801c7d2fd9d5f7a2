/** Packs the checkout once for all files of a run: `inject('tarball')` is the path of the package. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    tarball: string;
  }
}

export default function pack({ provide }: TestProject): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), 'nixl-otel-pack-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    provide('tarball', path.join(folder, readdirSync(folder)[0]!));
  } catch (error) {
    remove();
    throw error;
  }
  return remove;
}
