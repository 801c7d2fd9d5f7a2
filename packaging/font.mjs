// Makes the font of the live page: the characters of its own texts out of Inter, weights 400 to 700. Names with other
// characters are drawn in the font of the system.
//
//   node packaging/font.mjs    writes src/page/browser/inter.woff2; needs the registry of npm
//
// The two packages are not development dependencies: the font changes once in years.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const PACKAGES = ['@fontsource-variable/inter@5.3.0', 'subset-font@2.9.0'];
const FONT = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';
const TARGET = path.resolve(import.meta.dirname, '../src/page/browser/inter.woff2');

/** Printable ASCII, no-break space, µ, middle dot, times, dashes, quotes, ellipsis, minus. */
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');
const CHARACTERS = `${ASCII}\u00a0µ·×–—‘’“”…−`;

const folder = mkdtempSync(path.join(os.tmpdir(), 'nixl-otel-font-'));
try {
  const install = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', folder, ...PACKAGES];
  const { status } = spawnSync('npm', install, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ${install.join(' ')} failed`);
  const { resolve } = createRequire(path.join(folder, 'x.js'));
  const { default: subset } = await import(resolve('subset-font'));
  const font = readFileSync(path.join(folder, 'node_modules', FONT));
  const variationAxes = { wght: { min: 400, max: 700 } };
  writeFileSync(TARGET, await subset(font, CHARACTERS, { targetFormat: 'woff2', variationAxes }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
