/** Paths of the compiled parts of this package: built in a checkout, or prebuilt for this platform. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGE_NAME, packageFolder } from '../ground/package.js';
import { attempt } from '../ground/errors.js';

export type NativeFile = 'nixl_otel.node' | 'transfer-source';

/** Platforms with a binary in the package. Agents of NIXL run on Linux only, and write their rings there. */
const PREBUILT = ['linux-x64-glibc', 'linux-x64-musl', 'linux-arm64-glibc', 'linux-arm64-musl'];

export function isPrebuilt(platform = platformName()): boolean {
  return PREBUILT.includes(platform);
}

/**
 * Returns the C library of this process, by the names of its mapped files: this needs no program and no report. glibc's
 * file has one of two names; musl's name differs by distribution. Without /proc, glibc is likely; if this is wrong, the loader
 * refuses the binary.
 */
export function libc(maps: string = ownFile('maps')): 'glibc' | 'musl' {
  return maps === '' || /\/libc(\.so\.6|-[\d.]+\.so)$/m.test(maps) ? 'glibc' : 'musl';
}

/** Returns a file about this process; '' without /proc. */
function ownFile(name: 'maps' | 'mountinfo'): string {
  return attempt(() => readFileSync(`/proc/self/${name}`, 'latin1')) ?? '';
}

/** Returns the name of the platform, which that of its prebuilt files is: `linux-x64-glibc`, `darwin-arm64`. */
export function platformName(): string {
  const { platform, arch } = process;
  return platform === 'linux' ? [platform, arch, libc()].join('-') : `${platform}-${arch}`;
}

/**
 * Returns absolute paths to try, in this order: a build made here, then the prebuilt binary.
 * @throws NixlTelemetryError ADDON_MISSING inside a bundle
 */
export function nativeFiles(file: NativeFile, root = folderOf(file)): string[] {
  return [`${root}native/build/${file}`, `${root}prebuilds/${platformName()}/${file}`];
}

/** @throws NixlTelemetryError as nativeFiles() */
export function findNativeFile(file: NativeFile): string | undefined {
  return nativeFiles(file).find((path) => existsSync(path));
}

/** Returns how to allow what keeps a file from loading that is there; undefined if another file may help. */
export function howToAllow(file: string, error: unknown): string | undefined {
  if ((error as NodeJS.ErrnoException).code === 'ERR_DLOPEN_DISABLED') {
    return 'Node.js is told to load no addons: start it without --no-addons, and under the permission model with --allow-addons';
  }
  const mount = noexecMount(file);
  if (mount === undefined) return undefined;
  return `${mount} is mounted with noexec: set NIXL_OTEL_ADDON to the path of a copy on another file system`;
}

/** Returns the mount point of a file if its programs cannot run. `mounts`: text of /proc/self/mountinfo. */
export function noexecMount(file: string, mounts: string = ownFile('mountinfo')): string | undefined {
  const points = mounts.split('\n').flatMap((line) => {
    const [, , , , point, options] = line.split(' ');
    if (point === undefined || options === undefined) return [];
    const path = point.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
    return file.startsWith(path === '/' ? path : `${path}/`) ? [{ path, options: options.split(',') }] : [];
  });
  // Of two mounts at one point, the later one hides the earlier one.
  const deepest = points.reduce((found, one) => (one.path.length >= found.path.length ? one : found), points[0]!);
  return points.length > 0 && deepest.options.includes('noexec') ? deepest.path : undefined;
}

/** Returns what brings a missing file, for error messages: usually the command that builds it. */
export function howToBuild(): string {
  const root = fileURLToPath(packageFolder('Makefile'));
  if (!existsSync(`${root}native/Makefile`)) {
    const next = `Next.js: outputFileTracingIncludes with node_modules/${PACKAGE_NAME}/prebuilds/**/*`;
    return `files of the package are missing: a bundler that traces files left them out (${next})`;
  }
  const isCheckout = existsSync(`${root}package-lock.json`);
  const command = isCheckout ? `npm --prefix "${root}" run setup` : `make -C "${root}native"`;
  return `build it with: ${command} (needs make and a C++20 compiler, such as g++ 11)`;
}

function folderOf(file: NativeFile): string {
  const copy = `copy its prebuilds/${platformName()}/nixl_otel.node and set NIXL_OTEL_ADDON to the path of the copy`;
  return fileURLToPath(packageFolder(file, 'ADDON_MISSING', file === 'nixl_otel.node' ? copy : undefined));
}
