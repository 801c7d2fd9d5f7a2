/** Installations by users: no compiler, no scripts. docs/compatibility.md has the package managers and Nodes. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { PLATFORMS } from '../../packaging/platforms.mjs';
import { tables } from '../compatibility/page.js';
import { projectWith } from '../compatibility/service.js';
import { NAME, Project, READS_A_RING, tool, unpack, WHAT_IT_PRINTS } from '../support/package.js';

/** Name in the registry, and the program in the package. */
type Tool = [spec: string, inside: string];

const NPM_11: Tool = ['npm@11.21.2', 'npm/bin/npm-cli.js'];

const tarball = inject('tarball');

test('in a path with spaces: reads a ring; the command and an example work', async () => {
  const project = new Project(undefined, 'a service with spaces');
  await project.npm(await tool(...NPM_11), 'install', tarball, '@opentelemetry/exporter-prometheus');
  project.write('service.mjs', READS_A_RING);
  expect(await project.node('service.mjs')).toBe(WHAT_IT_PRINTS);
  expect(await project.node(`node_modules/.bin/nixl-otel`, '--version')).toMatch(/^\d+\.\d+\.\d+/);
  expect(await project.node(`node_modules/${NAME}/examples/attributes.mjs`)).toMatch(/agent_name="prefill-1".* [1-9]/);
});

test('for the whole machine: the command and its man page', async () => {
  const project = new Project();
  await project.npm(await tool(...NPM_11), 'install', '--global', '--prefix', project.directory, tarball);
  expect(await project.node('bin/nixl-otel', '--version')).toMatch(/^\d+\.\d+\.\d+/);
  expect(readFileSync(path.join(project.directory, 'share/man/man1/nixl-otel.1'), 'utf8')).toContain('.TH');
});

/** By the lines of OpenTelemetry in docs/compatibility.md, and a distribution with an exporter for gRPC of its own. */
const BESIDE = {
  '1.30': '@opentelemetry/sdk-node@0.57.2',
  '2': '@opentelemetry/sdk-node@0.223.0',
  '3': '@opentelemetry/sdk-node@0.301.0',
  HyperDX: '@hyperdx/node-opentelemetry@0.8.2',
} as const;

test('each line of OpenTelemetry that docs name is tried', () => {
  const named = tables()
    .get('Node.js and OpenTelemetry')!
    .map((row) => row['OpenTelemetry']!);
  expect(Object.keys(BESIDE)).toEqual(expect.arrayContaining(named));
});

test.each(Object.entries(BESIDE))('beside OpenTelemetry %s, by plain npm install', async (_, other) => {
  const project = new Project();
  const npm = await tool(...NPM_11);
  await project.npm(npm, 'install', '@opentelemetry/api@1', other);
  await project.npm(npm, 'install', tarball);
  project.write('service.mjs', READS_A_RING);
  expect(await project.node('service.mjs')).toBe(WHAT_IT_PRINTS);
});

test('the ring API alone loads no OpenTelemetry', async () => {
  const project = new Project();
  await project.npm(await tool(...NPM_11), 'install', tarball);
  rmSync(path.join(project.directory, 'node_modules/@opentelemetry'), { recursive: true });
  project.write(
    'rings.mjs',
    `import { openRing, RingWriter } from '${NAME}/rings';
     new RingWriter('ring', { wireVersion: 4, capacity: 64 }).push({ type: 0, value: 5n });
     console.log(openRing('ring').drain().map(({ type, value }) => type + ' ' + value).join());`,
  );
  expect(await project.node('rings.mjs')).toBe('0 5\n');
});

test('without a fitting binary, one error names the tried files and the command to run', async () => {
  const project = new Project();
  await project.npm(await tool(...NPM_11), 'install', tarball);
  rmSync(path.join(project.directory, 'node_modules', NAME, 'prebuilds'), { recursive: true });
  project.write(
    'rings.mjs',
    `import { openRing } from '${NAME}/rings';\ntry { openRing('/no/such'); } catch (e) { console.log(e.code, e.message); }`,
  );
  const said = await project.node('rings.mjs');
  rmSync(path.join(project.directory, 'node_modules', NAME, 'native'), { recursive: true });
  expect(await project.node('rings.mjs')).toMatch(
    /^ADDON_MISSING .*files of the package are missing: .*outputFileTracingIncludes/,
  );
  expect(said).toMatch(
    /^ADDON_MISSING no native part for linux-x64-glibc could be loaded; build it with: make -C ".*native" .*; tried\n/,
  );
  expect(said).toMatch(/prebuilds\/linux-x64-glibc\/nixl_otel\.node: no such file\n/);
});

test('exceptions in the binaries reach their handlers', async () => {
  const prebuilds = path.join(await unpack(tarball), 'prebuilds/linux-x64-glibc');
  const addon = createRequire(import.meta.url)(path.join(prebuilds, 'nixl_otel.node')) as { openSource(): void };
  expect(() => addon.openSource()).toThrow(Error);
  const { status, stderr } = spawnSync(path.join(prebuilds, 'transfer-source'), ['--rate', 'x'], { encoding: 'utf8' });
  expect(stderr).toMatch(/^transfer-source: --rate is "x": use a number/);
  expect(status).toBe(2);
});

/** Upper bounds on the sizes that docs/install.md states: without binaries, and per platform with binaries. */
const MOST_PACKED_BYTES = [1.76e6, 0.5e6] as const;
const MOST_UNPACKED_BYTES = [5.1e6, 1.05e6] as const;
/** With all dependencies, and the binaries of all platforms. */
const MOST_INSTALLED_BYTES = 30e6;

const BINARY = /prebuilds\/(linux-[^/]+)\//;

/** Returns the paths in this folder, except those of folders and links. */
function filesIn(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return all.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
}

function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

test('the tarball holds what users need, and stays small', async () => {
  const inside = await unpack(tarball);
  const all = filesIn(inside);
  const platforms = new Set(all.flatMap((file) => BINARY.exec(file)?.[1] ?? [])).size;
  const most = ([others, perPlatform]: readonly [number, number]): number => others + platforms * perPlatform;
  expect(statSync(tarball).size).toBeLessThan(most(MOST_PACKED_BYTES));
  expect(bytesOf(all)).toBeLessThan(most(MOST_UNPACKED_BYTES));
  const files = all.map((file) => path.relative(inside, file));
  const needless =
    /\.test\.|tsbuildinfo|build-stamp|\.map$|^(test|bench|src|packaging)\/|^dist\/(cli\/|page\/|process\/|report\/|serve\/|top\/|view\/(?!(sizes|slowness)\/)).*\.d\.ts$/;
  expect(files.filter((file) => needless.test(file) && !file.startsWith('examples/'))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'native/Makefile', 'LICENSE']));
});

// npm takes the newest SDK that package.json allows, the exporters an exact one. If these two differ, npm keeps copies: then
// leave the SDK that no exporter asks for out of the ranges. The two Nodes get two lines of OpenTelemetry.
test.each(['20.20.2', '24.21.0'])('on Node %s: small with all dependencies, none of them twice', async (node) => {
  const project = await projectWith(node, tarball);
  const files = filesIn(path.join(project.directory, 'node_modules'));
  const second = /node_modules\/.*\/node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/;
  expect(files.filter((file) => second.test(path.relative(project.directory, file)))).toEqual([]);
  const [, perPlatform] = MOST_UNPACKED_BYTES;
  const others = bytesOf(files.filter((file) => !BINARY.test(file)));
  expect(others + PLATFORMS.length * perPlatform).toBeLessThan(MOST_INSTALLED_BYTES);
});
