// Formats our C++, or checks that it is formatted: `node native/format.mjs --write|--check`. The style is .clang-format.
import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const native = import.meta.dirname;

function sources() {
  return readdirSync(native, { recursive: true })
    .filter((file) => /\.(h|cc)$/.test(file) && !file.startsWith(`build${path.sep}`))
    .sort()
    .map((file) => path.join(native, file));
}

/** The binary that came with npm. It is only made executable by an install script, and those may be switched off. */
function clangFormat() {
  const { clangFormatPath } = createRequire(import.meta.url)('clang-format-node');
  try {
    accessSync(clangFormatPath, constants.X_OK);
  } catch {
    chmodSync(clangFormatPath, 0o755);
  }
  return clangFormatPath;
}

const [mode, ...rest] = process.argv.slice(2);
if (!['--check', '--write'].includes(mode) || rest.length > 0) {
  console.error('usage: node native/format.mjs --check|--write');
  process.exit(2);
}
const files = sources();
const flags = mode === '--check' ? ['--dry-run', '--Werror'] : ['-i'];
const { status, error } = spawnSync(clangFormat(), [...flags, ...files], { stdio: 'inherit' });
if (error) throw error;
if (status === 0) console.log(`${files.length} C++ files are formatted`);
else if (mode === '--check') console.error('C++ files are not formatted: npm run format');
process.exitCode = status === 0 ? 0 : 1;
