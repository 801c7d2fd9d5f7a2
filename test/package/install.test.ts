/** Installations by users: no compiler, no scripts. docs/compatibility.md has the package managers and Nodes. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { NAME, Project, READS_A_RING, tool, unpack, WHAT_IT_PRINTS } from '../support/package.js';

/** Name in the registry, and the program in the package. */
type Tool = [spec: string, inside: string];

const NPM_11: Tool = ['npm@11.21.2', 'npm/bin/npm-cli.js'];

const tarball = inject('tarball');

test('in a path with spaces: reads a ring; the command and an example work', async () => {
  const project = new Project(undefined, 'a service with spaces');
  await project.npm(await tool(...NPM_11), 'install', tarball);
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

/** Upper bounds on the sizes that docs/install.md states. */
const MOST_PACKED_BYTES = 2.3e6;
const MOST_INSTALLED_BYTES = 6e6;

test('the tarball holds what users need, and stays small', async () => {
  expect(statSync(tarball).size).toBeLessThan(MOST_PACKED_BYTES);
  const inside = await unpack(tarball);
  const all = readdirSync(inside, { recursive: true, encoding: 'utf8' });
  const files = all.filter((name) => statSync(path.join(inside, name)).isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(path.join(inside, file)).size, 0);
  expect(bytes).toBeLessThan(MOST_INSTALLED_BYTES);
  const needless = /\.test\.|tsbuildinfo|build-stamp|\.map$|^(test|bench|src|packaging)\//;
  expect(files.filter((file) => needless.test(file) && !file.startsWith('examples/'))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'native/Makefile', 'LICENSE']));
});
