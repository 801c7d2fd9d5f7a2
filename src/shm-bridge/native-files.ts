/** Paths of the compiled parts of this package: built in a checkout, or shipped for this platform. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type NativeFile = 'nixl_otel.node' | 'transfer-source';

/** A function: a bundler may set import.meta.url to something that is not a file. */
const packageRoot = (): string => fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns the C library of this process, from its own memory mappings, without a subprocess or a report. glibc's file
 * has one of two names; the name of musl's file varies by distribution.
 */
export function libc(maps: string = ownMappings()): 'glibc' | 'musl' {
  return maps === '' || /\/libc(\.so\.6|-[\d.]+\.so)$/m.test(maps) ? 'glibc' : 'musl';
}

function ownMappings(): string {
  try {
    return readFileSync('/proc/self/maps', 'latin1');
  } catch {
    return ''; // no /proc: glibc is more likely, and the loader refuses a binary for the other
  }
}

/** Returns the platform's name in prebuilds, as `linux-x64-glibc`. */
export function platformName(): string {
  return [process.platform, process.arch, libc()].join('-');
}

/** Returns the absolute paths to try, in this order: the local build, then the binary in the package. */
export function nativeFiles(file: NativeFile, root = packageRoot()): string[] {
  return [`${root}native/build/${file}`, `${root}prebuilds/${platformName()}/${file}`];
}

export function findNativeFile(file: NativeFile): string | undefined {
  return nativeFiles(file).find((path) => existsSync(path));
}

/** Returns the build command, for error messages. */
export function howToBuild(): string {
  const root = packageRoot();
  const command = existsSync(`${root}package-lock.json`) ? 'npm run setup' : `make -C "${root}native"`;
  return `build it with: ${command} (needs make and a C++20 compiler, such as g++ 11)`;
}
