/** A tmpfs of few bytes for a test. Only root may mount one; then such tests are skipped. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** True if the tests may mount. */
export const MAY_MOUNT = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

/** `size`: as of mount, such as `300k`. The tmpfs is gone after the test. */
export function smallTmpfs(size: string): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-small-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', directory]);
  if (status !== 0) throw new Error(`mount: ${String(stderr)}`);
  onTestFinished(() => {
    spawnSync('umount', ['-l', directory]);
    rmdirSync(directory);
  });
  return directory;
}

export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Fills the file system as another program does, and leaves so many bytes. @returns the path of the file */
export function fillUp(directory: string, leftBytes: number): string {
  const file = path.join(directory, `other-${leftBytes}.data`);
  const page = Buffer.alloc(4096, 1);
  const descriptor = openSync(file, 'w');
  for (let pages = Math.floor((freeBytes(directory) - leftBytes) / 4096); pages > 0; pages--)
    writeSync(descriptor, page);
  closeSync(descriptor);
  return file;
}
