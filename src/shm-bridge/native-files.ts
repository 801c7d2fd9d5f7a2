/** Where the compiled parts of this package are: built in a checkout, or brought along for this platform. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type NativeFile = 'nixl_otel.node' | 'transfer-source';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The C library of this process. Its own mappings tell without starting a program or collecting a report: glibc's file has
 * one of two names, musl's stands under another in every distribution.
 */
export function libc(maps: string = ownMappings()): 'glibc' | 'musl' {
  return maps === '' || /\/libc(\.so\.6|-[\d.]+\.so)$/m.test(maps) ? 'glibc' : 'musl';
}

function ownMappings(): string {
  try {
    return readFileSync('/proc/self/maps', 'latin1');
  } catch {
    return ''; // no /proc: glibc is the likely one, and a binary for the other would be refused by the loader
  }
}

/** As prebuilds are named: `linux-x64-glibc`. */
export function platformName(): string {
  return [process.platform, process.arch, libc()].join('-');
}

/** Absolute paths to try, in this order: a build made here, then the binary that the package brought. */
export function nativeFiles(file: NativeFile, root = PACKAGE): string[] {
  return [`${root}native/build/${file}`, `${root}prebuilds/${platformName()}/${file}`];
}

export function findNativeFile(file: NativeFile): string | undefined {
  return nativeFiles(file).find((path) => existsSync(path));
}

/** For error messages: how to get what is not there. */
export function howToBuild(): string {
  const command = existsSync(`${PACKAGE}package-lock.json`) ? 'npm run setup' : `make -C "${PACKAGE}native"`;
  return `build it with: ${command} (needs make and a C++20 compiler, such as g++ 11)`;
}
