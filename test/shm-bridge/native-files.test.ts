import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PLATFORMS } from '../../packaging/platforms.mjs';
import { loadFirst } from '../../src/shm-bridge/addon.js';
import { isPrebuilt, libc, nativeFiles, platformName } from '../../src/shm-bridge/native-files.js';

test.each([
  ['7f00 r-xp 0 00:00 0 /usr/lib/x86_64-linux-gnu/libc.so.6\n', 'glibc'],
  ['7f00 r-xp 0 00:00 0 /lib/ld-musl-aarch64.so.1\n', 'musl'],
  ['7f00 r-xp 0 00:00 0 /lib/libc.musl-x86_64.so.1\n', 'musl'],
  ['7f00 r-xp 0 00:00 0 /usr/lib/x86_64-linux-musl/libc.so\n', 'musl'],
  ['7f00 r-xp 0 00:00 0 /lib64/libc-2.28.so\n', 'glibc'],
  ['', 'glibc'],
])('the C library follows from the mappings %j', (maps, expected) => {
  expect(libc(maps)).toBe(expected);
});

test('a local build precedes the binary of the package', () => {
  const platform = `linux-${process.arch}-${libc()}`;
  expect(nativeFiles('nixl_otel.node', '/p/')).toEqual([
    '/p/native/build/nixl_otel.node',
    `/p/prebuilds/${platform}/nixl_otel.node`,
  ]);
});

test('a file that does not load is skipped, and one error lists all files', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'nixl-otel-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const broken = path.join(folder, 'broken.node');
  writeFileSync(broken, 'not a library');
  const missing = path.join(folder, 'missing.node');
  const [built] = nativeFiles('nixl_otel.node');
  expect(loadFirst([missing, broken, built!])).toHaveProperty('openRing');
  const failing = (): unknown => loadFirst([missing, broken]);
  expect(failing).toThrow(
    /build it with: npm --prefix "\/.*" run setup .*; tried\n.*missing\.node: no such file\n.*broken\.node: /,
  );
  expect(failing).toThrow(expect.objectContaining({ code: 'ADDON_MISSING', path: missing }) as Error);
});

test('the platforms with a binary are those that packaging builds', () => {
  expect(PLATFORMS.filter((name) => !isPrebuilt(name))).toEqual([]);
  expect(PLATFORMS).toContain(platformName());
  expect(['linux-riscv64-glibc', 'darwin-arm64'].filter((name) => isPrebuilt(name))).toEqual([]);
});
