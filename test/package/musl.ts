/**
 * A JavaScript runtime on musl that loads Node-API addons. npm has the build of Bun for Alpine Linux, Debian has musl's
 * loader. The few functions that Bun takes from Alpine's libstdc++ are linked here from GCC's archive, with the same
 * additions as in the musl binaries of this package.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, tool } from '../support/package.js';

const BUN = '1.4.5';
const NATIVE = path.join(ROOT, 'native');

/** Function of glibc that GCC's archive takes for Bun, but not for the binaries of this package. */
const ALSO_MISSING = `
#include <sys/syscall.h>
#include <unistd.h>
extern "C" __attribute__((visibility("hidden"))) unsigned arc4random() {
  unsigned value;
  ::syscall(SYS_getrandom, &value, sizeof value, 0);
  return value;
}`;

export interface MuslMachine {
  /** Architecture in names of npm packages. */
  readonly bun: string;
  readonly compiler: string;
}

export const MUSL_X64 = { bun: '@oven/bun-linux-x64-musl', compiler: 'x86_64-linux-gnu-g++' };
export const MUSL_ARM64 = { bun: '@oven/bun-linux-aarch64-musl', compiler: 'aarch64-linux-gnu-g++' };

export async function muslRuntime({ bun, compiler }: MuslMachine): Promise<{ bun: string; libraries: string }> {
  const program = await tool(`${bun}@${BUN}`, `${bun}/bin/bun`, '--force'); // --force: built for another machine
  const libraries = path.join(path.dirname(program), 'libraries');
  const library = path.join(libraries, 'libstdc++.so.6');
  if (!existsSync(library)) {
    mkdirSync(libraries, { recursive: true });
    linkLibrary(program, compiler, library);
  }
  return { bun: program, libraries };
}

function linkLibrary(program: string, compiler: string, library: string): void {
  const asked = (file: string): string =>
    execFileSync(compiler, [`-print-file-name=${file}`])
      .toString()
      .trim();
  const archives = ['libstdc++.a', 'libgcc.a', 'libgcc_eh.a'].map(asked);
  const wanted = symbolNames('readelf', ['-W', '--dyn-syms', program], / (\S+?)(?:@\S+)?$/gm);
  const there = symbolNames('nm', ['--defined-only', '-g', ...archives], / [A-Z] (\S+)$/gm);
  const taken = [...wanted].filter((name) => there.has(name));
  const missing = path.join(path.dirname(library), 'missing.cc');
  writeFileSync(missing, ALSO_MISSING);
  execFileSync(
    compiler,
    [
      ...['-std=c++20', '-O2', '-fPIC', '-shared', '-nostdlib', `-I${NATIVE}`, '-o', library],
      ...taken.map((name) => `-Wl,-u,${name}`),
      ...['-Wl,-soname,libstdc++.so.6,--gc-sections', asked('crtbeginS.o')],
      ...[path.join(NATIVE, 'prebuild/portable_libc.cc'), missing],
      ...['-Wl,--start-group', ...archives, '-Wl,--end-group', asked('crtendS.o')],
    ],
    { stdio: 'pipe' },
  );
}

function symbolNames(command: string, args: string[], pattern: RegExp): Set<string> {
  const text = execFileSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 256 << 20,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Set(Array.from(text.matchAll(pattern), ([, name]) => name!));
}
