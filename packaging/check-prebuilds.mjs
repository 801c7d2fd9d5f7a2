// Checks the binaries in prebuilds/: the right machine, no library but libc, no symbol newer than the promised glibc, none
// that musl lacks. Prints one line per platform. The exit code is 1 after a problem, or without any binary.
//
//   node packaging/check-prebuilds.mjs          the existing binaries
//   node packaging/check-prebuilds.mjs --all    requires every platform
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { OLDEST_GLIBC, PLATFORMS, PREBUILDS } from './platforms.mjs';

const MACHINES = { x64: 'X86-64', arm64: 'AArch64' };
const GLIBC = /^(libc\.so\.6|libpthread\.so\.0|libdl\.so\.2|libm\.so\.6|ld-linux-[-\w]+\.so\.[12])$/;
/** For programs only: a process that loads the addon has loaded its C library before. */
const MUSL = /^libc\.musl-(x86_64|aarch64)\.so\.1$/;
/** Functions that C++ programs often use, and that glibc has but musl lacks. */
const NOT_IN_MUSL =
  /(_chk|64)$|^(__isoc23_|__libc_(?!start_main)|__fx|__xstat|__lxstat|__newlocale|arc4random|_dl_find_object|pthread_(cond|mutex)_clock)|^__(getauxval|cxa_thread_atexit_impl)$/;

const readelf = (...args) => execFileSync('readelf', ['-W', ...args], { encoding: 'utf8' });

function newer(version, than) {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number));
  return a[0] > b[0] || (a[0] === b[0] && a[1] > b[1]);
}

function problemsOf(file, platform) {
  const [, arch, libc] = platform.split('-');
  const problems = [];
  if (!readelf('-h', file).includes(MACHINES[arch])) problems.push(`is not for ${MACHINES[arch]}`);
  const needed = [...readelf('-d', file).matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name]) => name);
  const allowed = (name) => (libc === 'glibc' ? GLIBC.test(name) : MUSL.test(name) && !file.endsWith('.node'));
  problems.push(...needed.filter((name) => !allowed(name)).map((name) => `needs ${name}`));
  for (const [, bind, symbol] of readelf('--dyn-syms', file).matchAll(/ (GLOBAL|WEAK) +\S+ +UND (\S+)/g)) {
    const [name, version] = symbol.split(/@+/);
    if (name.startsWith('pthread_cond_')) problems.push(`needs ${name}: two implementations of waits would mix`);
    const glibc = /^GLIBC_([\d.]+)$/.exec(version ?? '')?.[1];
    if (glibc && newer(glibc, OLDEST_GLIBC)) problems.push(`needs ${symbol}`);
    if (libc === 'glibc' && !version && bind === 'GLOBAL' && !name.startsWith('napi_'))
      problems.push(`${name} is undefined`);
    if (libc === 'musl' && bind === 'GLOBAL' && !name.startsWith('napi_') && NOT_IN_MUSL.test(name))
      problems.push(`${name} is not in musl`);
  }
  return problems;
}

let found = 0;
let wrong = 0;
for (const platform of PLATFORMS) {
  const files = ['nixl_otel.node', 'transfer-source'].filter((file) =>
    existsSync(path.join(PREBUILDS, platform, file)),
  );
  if (!files.includes('nixl_otel.node')) {
    if (process.argv.includes('--all')) {
      console.error(`prebuilds: ${platform} is missing: npm run prebuild`);
      wrong += 1;
    }
    continue;
  }
  found += 1;
  for (const file of files) {
    for (const problem of problemsOf(path.join(PREBUILDS, platform, file), platform)) {
      console.error(`prebuilds: ${platform}/${file} ${problem}`);
      wrong += 1;
    }
  }
  const sizes = files.map(
    (file) => `${file} ${Math.round(statSync(path.join(PREBUILDS, platform, file)).size / 1024)} KiB`,
  );
  console.log(`prebuilds: ${platform}: ${sizes.join(', ')}`);
}
if (found === 0) console.error('prebuilds: there is no binary; make them with: npm run prebuild');
process.exitCode = found === 0 || wrong > 0 ? 1 : 0;
