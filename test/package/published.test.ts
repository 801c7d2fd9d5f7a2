/** The tarball: its manifest, types and licences. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { tool, unpack } from '../support/package.js';

const tarball = inject('tarball');

test('publint finds nothing', async () => {
  const publint = await tool('publint@0.3.25', 'publint/src/cli.js');
  execFileSync(process.execPath, [publint, 'run', tarball, '--strict'], { stdio: 'pipe' });
});

test('are-the-types-wrong finds nothing, for any resolution that Node 20.19 and later or a bundler has', async () => {
  const attw = await tool('@arethetypeswrong/cli@0.18.5', '@arethetypeswrong/cli/dist/index.js');
  const args = [
    tarball,
    '--profile=node16', // node10 ignores the exports map; no supported Node resolves in this way
    // The rule is older than require() of an ES module, which works since Node 20.19: see docs/compatibility.md.
    '--ignore-rules=cjs-resolves-to-esm',
  ];
  execFileSync(process.execPath, [attw, ...args], { stdio: 'pipe' });
});

test('no file refers to a missing source map', async () => {
  const dist = path.join(await unpack(tarball), 'dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  const scripts = files.filter((file) => file.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(50);
  const pointing = scripts.filter((file) => readFileSync(path.join(dist, file), 'utf8').includes('sourceMappingURL'));
  expect(pointing).toEqual([]);
});

test('no declaration refers to one that the package leaves out', async () => {
  const dist = path.join(await unpack(tarball), 'dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.d.ts'));
  const references = files.flatMap((file) => {
    const text = readFileSync(path.join(dist, file), 'utf8');
    return [...text.matchAll(/(?:from|import\()\s*['"](\.[^'"]+)\.js['"]/g)].map(([, to]) =>
      path.join(path.dirname(file), `${to}.d.ts`),
    );
  });
  expect(references.length).toBeGreaterThan(100);
  expect(references.filter((file) => !files.includes(file))).toEqual([]);
});

test('the notices name the works of others, and their licences exist', async () => {
  const inside = await unpack(tarball);
  const notices = readFileSync(path.join(inside, 'THIRD-PARTY-NOTICES.md'), 'utf8');
  const copied = readdirSync(path.join(inside, 'prebuilds/headers'));
  for (const name of [...copied, 'libstdc++', 'libgcc', 'GNU C Library']) expect(notices).toContain(name);
  const licences = [...notices.matchAll(/`(prebuilds\/headers\/\S+)`/g)].map(([, file]) => file!);
  expect(licences.length).toBe(copied.length);
  for (const file of licences) expect(existsSync(path.join(inside, file)), file).toBe(true);
});
