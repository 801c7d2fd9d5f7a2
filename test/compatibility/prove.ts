/** Registers a test for each row of docs/compatibility.md that a command proves. */
import { describe, inject, test } from 'vitest';
import { proveBundler } from './bundlers.js';
import { proveCommonJs, proveTypeScript } from './modules.js';
import { provePackageManager, proveRuntime } from './package-managers.js';
import { type Proof, type Row, rowsOf } from './page.js';
import { proveTestRunner } from './test-runners.js';

type Prove = (row: Row, tarball: string) => Promise<void>;

export const SECTIONS: Readonly<Record<string, Prove>> = {
  'Package managers': provePackageManager,
  'Other runtimes': proveRuntime,
  CommonJS: proveCommonJs,
  TypeScript: proveTypeScript,
  Bundlers: proveBundler,
  'Test runners': proveTestRunner,
};

export function proveRows(proof: Proof): void {
  const tarball = inject('tarball');
  for (const [section, prove] of Object.entries(SECTIONS)) {
    const rows = rowsOf(section, proof);
    if (rows.length === 0) continue;
    describe(section, () => {
      const titled = rows.map((row) => [titleOf(row), row] as const);
      test.each(titled)('%s', (_, row) => prove(row, tarball));
    });
  }
}

function titleOf(row: Row): string {
  return Object.entries(row)
    .filter(([column]) => column !== 'Proof')
    .map(([column, cell]) => (column === 'Node.js' ? `Node.js ${cell}` : cell))
    .join(', ');
}
