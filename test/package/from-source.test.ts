/** A build in the installed package, for platforms without a binary. It compiles for a minute. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { Project, READS_A_RING, tool, WHAT_IT_PRINTS } from '../support/package.js';

const NAME = 'opentelemetry-instrumentation-nixl';

const tarball = inject('tarball');

test('the command in the error message builds it, from the files of the package', async () => {
  const project = new Project();
  await project.npm(await tool('npm@11.21.2', 'npm/bin/npm-cli.js'), 'install', tarball);
  const inside = path.join(project.directory, 'node_modules', NAME);
  rmSync(path.join(inside, 'prebuilds/linux-x64-glibc'), { recursive: true });
  execFileSync('make', ['-C', path.join(inside, 'native'), '-j2'], { stdio: 'pipe' });
  project.write('service.mjs', READS_A_RING);
  expect(await project.node('service.mjs')).toBe(WHAT_IT_PRINTS);
});
