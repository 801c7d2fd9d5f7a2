import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PLATFORMS } from '../../packaging/platforms.mjs';
import { loadFirst } from '../../src/shm-bridge/addon.js';
import { RunningCommand } from '../cli/command.js';
import { isPrebuilt, libc, nativeFiles, noexecMount, platformName } from '../../src/shm-bridge/native-files.js';

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

const BUILT = nativeFiles('nixl_otel.node')[0]!;
const LOAD = `import { openRing } from './dist/rings.js'; try { openRing('/no/ring'); } catch ({ code, message }) { console.log(code, message); }`;

const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';

test.each([[['--no-addons']], [[PERMISSION, '--allow-fs-read=*']]])(
  'with %j the error says what allows addons, and not how to build one',
  async (flags) => {
    const { stdout } = await new RunningCommand(process.execPath, [...flags, '--input-type=module', '--eval', LOAD])
      .ended;
    expect(stdout).toMatch(
      /^ADDON_MISSING .*start it without --no-addons, and under the permission model with --allow-addons/,
    );
    expect(stdout).not.toContain('build it with');
  },
);

const mayMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

test.skipIf(!mayMount)('on a file system with noexec the error names the mount', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'nixl-otel-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const load = `import { loadFirst } from './dist/shm-bridge/addon.js'; try { loadFirst(['${folder}/nixl_otel.node']); } catch ({ message }) { console.log(message); }`;
  const script = `mount -t tmpfs -o noexec tmpfs ${folder} && cp ${BUILT} ${folder} && exec ${process.execPath} --input-type=module --eval "$0"`;
  const { stdout, stderr } = await new RunningCommand('unshare', ['--mount', 'sh', '-c', script, load]).ended;
  expect(stderr).toBe('');
  expect(stdout).toContain(
    `${folder} is mounted with noexec: set NIXL_OTEL_ADDON to the path of a copy on another file system`,
  );
});

test('the mount of a file is the deepest, and of several at one point the last', () => {
  const line = (point: string, options: string): string =>
    `36 35 0:1 / ${point} ${options} shared:1 - tmpfs tmpfs rw\n`;
  const mounts = line('/', 'rw') + line('/srv', 'rw,noexec') + line('/srv/app', 'rw') + line('/a\\040b', 'ro,noexec');
  expect(noexecMount('/srv/x.node', mounts)).toBe('/srv');
  expect(noexecMount('/srv/app/x.node', mounts)).toBeUndefined();
  expect(noexecMount('/srv2/x.node', mounts)).toBeUndefined();
  expect(noexecMount('/a b/x.node', mounts)).toBe('/a b');
  expect(noexecMount('/srv/x.node', mounts + line('/srv', 'rw'))).toBeUndefined();
  expect(noexecMount('/srv/x.node', '')).toBeUndefined();
});

test('the platforms with a binary are those that packaging builds', () => {
  expect(PLATFORMS.filter((name) => !isPrebuilt(name))).toEqual([]);
  expect(PLATFORMS).toContain(platformName());
  expect(['linux-riscv64-glibc', 'darwin-arm64'].filter((name) => isPrebuilt(name))).toEqual([]);
});
