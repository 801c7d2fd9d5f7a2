/**
 * The programs and packages of these tests. Each function returns undefined or false if they cannot be made here, and
 * prints what is missing. A program's path goes into the variable that test/servers/server.ts reads.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ifAtHand } from './at-hand.js';
import { buildGoTool } from './go-tool.js';
import { installWheels } from './wheels.js';

const folder = (name: string) => new URL(name, import.meta.url).pathname;

/** Builds Prometheus and promtool of the version in prometheus/go.mod, without service discovery and web assets. */
export async function providePrometheus(): Promise<boolean> {
  const tags = ['remove_all_sd'];
  const build = (program: string) => () =>
    buildGoTool(folder('prometheus'), `github.com/prometheus/prometheus/cmd/${program}`, { tags });
  return (await provide('PROMETHEUS', build('prometheus'))) && (await provide('PROMTOOL', build('promtool')));
}

/** Builds the OpenTelemetry Collector of collector/. */
export function provideCollector(): Promise<boolean> {
  return provide('COLLECTOR', () => buildGoTool(folder('collector'), '.'));
}

async function provide(variable: string, build: () => Promise<string>): Promise<boolean> {
  const program = process.env[variable] ?? (await ifAtHand('Go', build));
  if (program !== undefined) process.env[variable] = program;
  return program !== undefined;
}

/** Installs the wheels of NIXL that nixl/ names. @returns PYTHONPATH by release. */
export async function provideNixl(): Promise<Map<string, string> | undefined> {
  if (process.arch !== 'x64') {
    console.log(`skipped: the wheels that test/real/nixl names are for x64, and this is ${process.arch}`);
    return undefined;
  }
  return ifAtHand('Python', async () => {
    const numpy = await installWheels(folder('nixl/numpy.txt'));
    const found = new Map<string, string>();
    for (const file of readdirSync(folder('nixl')).sort()) {
      const [, release] = /^nixl-(.*)\.txt$/.exec(file) ?? [];
      if (release === undefined) continue;
      const nixl = await installWheels(path.join(folder('nixl'), file));
      found.set(release, [nixl, numpy].join(path.delimiter));
    }
    return found;
  });
}

/** Builds the parser of prometheus/common in parsers/. */
export function provideGoParser(): Promise<string | undefined> {
  return ifAtHand('Go', () => buildGoTool(folder('parsers'), '.'));
}

/** Installs prometheus_client. @returns PYTHONPATH, and the script that parses with it. */
export async function providePythonParser(): Promise<{ packages: string; script: string } | undefined> {
  const packages = await ifAtHand('Python', () => installWheels(folder('parsers/prometheus_client.txt')));
  return packages === undefined ? undefined : { packages, script: folder('parsers/parser.py') };
}
