/** The binaries of other platforms read rings written here, write rings read here, and report the same metrics. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { PREBUILDS } from '../../packaging/platforms.mjs';
import { RunningCommand, scrape, until, valueOf } from '../cli/command.js';
import { Project, READS_A_RING, tool, WHAT_IT_PRINTS } from '../support/package.js';
import { eventsFor, spoilPadding, WIRE_VERSIONS, writeRing } from '../support/rings.js';
import { MACHINES } from './machines.js';

/** Prints the platform of the binary that is loaded, and an exception that it throws in C++. */
const WHICH_BINARY = `
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
const [file, platform] = /\\/\\S*prebuilds\\/(\\S+)\\/nixl_otel\\.node/.exec(readFileSync('/proc/self/maps', 'latin1'));
console.log(platform);
try {
  createRequire(import.meta.url)(file).openSource();
} catch (error) {
  console.log(error instanceof Error);
}
`;

const tarball = inject('tarball');

describe.each(MACHINES)('$platform', ({ platform, needs, runtime }) => {
  const isThere = needs.every((file) => existsSync(file)) && existsSync(path.join(PREBUILDS, platform));

  async function project(): Promise<{ project: Project; run: (...args: string[]) => string }> {
    const project = new Project();
    await project.npm(await tool('npm@11.21.2', 'npm/bin/npm-cli.js'), 'install', tarball);
    const { words, env } = await runtime();
    const [program, ...first] = words;
    const run = (...args: string[]): string =>
      execFileSync(program, [...first, ...args], {
        cwd: project.directory,
        env: { ...process.env, ...env },
        encoding: 'utf8',
        maxBuffer: 16 << 20,
      });
    return { project, run };
  }

  test.runIf(isThere)(
    'loads its own binary, and agrees with this platform on every event of every wire version',
    async () => {
      const { project: service, run } = await project();
      service.write('service.mjs', READS_A_RING + WHICH_BINARY);
      expect(run('service.mjs')).toBe(`${WHAT_IT_PRINTS}${platform}\ntrue\n`);

      const at = (name: string): string => path.join(service.directory, name);
      for (const name of ['here', 'there', 'copies']) mkdirSync(at(name));
      cpSync(path.join(import.meta.dirname, 'reads-everything.mjs'), at('reads-everything.mjs'));
      const events = Object.fromEntries(WIRE_VERSIONS.map((version) => [version, eventsFor(version)]));
      const asText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
      service.write('events.json', JSON.stringify(events, asText));

      // Both write the same bytes.
      const shownHere = await service.node('reads-everything.mjs', 'here', 'events.json');
      const shownThere = run('reads-everything.mjs', 'there', 'events.json');
      expect(shownThere).toBe(shownHere);
      for (const name of readdirSync(at('here'))) {
        expect(readFileSync(path.join(at('there'), name))).toEqual(readFileSync(path.join(at('here'), name)));
      }

      // There it reads rings of agents here: wrapped round, with garbage in the padding.
      for (const version of WIRE_VERSIONS) {
        const file = path.join(at('copies'), `v${version}`);
        writeRing(file, version, eventsFor(version), 40);
        spoilPadding(file, version);
      }
      cpSync(at('copies'), at('originals'), { recursive: true });
      expect(run('reads-everything.mjs', 'copies')).toBe(await service.node('reads-everything.mjs', 'originals'));
    },
  );

  test.runIf(isThere && platform === 'linux-x64-musl')('runs the demo, transfer-source included', async () => {
    const { project: service } = await project();
    const { words, env } = await runtime();
    const [program, ...first] = words;
    const args = [...first, 'node_modules/opentelemetry-instrumentation-nixl/dist/cli/main.js', 'demo', '--port', '0'];
    const demo = new RunningCommand(program, args, env, service.directory);
    const [, url] = await demo.says(/Metrics: (\S+)/);
    await until(async () => valueOf(await scrape(url!), 'agent_tx_bytes_total') > 0);
    const { code, stdout } = await demo.stop('SIGINT');
    expect(stdout).toMatch(/written by the agents: ([\d,]+), counted: \1\n/);
    expect(code).toBe(0);
  });
});
