/** Installs the tarball by a package manager, and counts. */
import { expect } from 'vitest';
import { NAME, Project, READS_A_RING, tool, WHAT_IT_PRINTS } from '../support/package.js';
import { nameAndVersion, type Row } from './page.js';
import { nodeOf } from './service.js';

/** With the SDK and an instrumentation that replaces `require`, which must not disturb the native part. */
const OTEL = ['@opentelemetry/api', '@opentelemetry/sdk-node', '@opentelemetry/instrumentation-http'];
const WITH_SDK = `
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';
new NodeSDK({ instrumentations: [new HttpInstrumentation()] }).start();
await import('./service.mjs');
`;

/** Installs, and returns the arguments of Node.js that run a file of the project, or the command of the package. */
type Install = (project: Project, version: string, tarball: string) => Promise<Installed>;

interface Installed {
  readonly file: (name: string) => string[];
  readonly command: readonly string[];
}

const WITH_MODULES: Installed = {
  file: (name) => [name],
  command: [`node_modules/${NAME}/dist/cli/main.js`],
};

const QUIET = ['--no-audit', '--no-fund', '--ignore-scripts'];

const yarn =
  (linker: string, installed: (yarn: string) => Installed): Install =>
  async (project, version, tarball) => {
    const cli = await tool(`@yarnpkg/cli-dist@${version}`, '@yarnpkg/cli-dist/bin/yarn.js');
    project.write('yarn.lock', '');
    const settings = ['enableTelemetry: false', 'enableScripts: false', 'enableGlobalCache: false'];
    const registry = 'npmRegistryServer: "https://registry.npmjs.org"';
    project.write('.yarnrc.yml', [...settings, registry, `nodeLinker: ${linker}`, ''].join('\n'));
    await project.node(cli, 'add', `${NAME}@file:${tarball}`, ...OTEL);
    return installed(cli);
  };

const INSTALLERS: Readonly<Record<string, Install>> = {
  npm: async (project, version, tarball) => {
    const cli = await tool(`npm@${version}`, 'npm/bin/npm-cli.js');
    await project.node(cli, 'install', tarball, ...OTEL, ...QUIET);
    return WITH_MODULES;
  },
  pnpm: async (project, version, tarball) => {
    const inside = Number.parseInt(version) > 10 ? 'pnpm/bin/pnpm.mjs' : 'pnpm/bin/pnpm.cjs';
    await project.node(await tool(`pnpm@${version}`, inside), 'add', '--ignore-scripts', tarball, ...OTEL);
    return WITH_MODULES;
  },
  'yarn, node_modules': yarn('node-modules', () => WITH_MODULES),
  "yarn, Plug'n'Play": yarn('pnp', (cli) => ({ file: (name) => [cli, 'node', name], command: [cli, 'nixl-otel'] })),
  Bun: async (project, version, tarball) => {
    const bun = await bunOf(version);
    await project.program(bun, 'add', '--ignore-scripts', tarball, ...OTEL);
    return WITH_MODULES;
  },
};

const bunOf = (version: string): Promise<string> => {
  const name = `@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : process.arch}`;
  return tool(`${name}@${version}`, `${name}/bin/bun`);
};

export async function provePackageManager(row: Row, tarball: string): Promise<void> {
  const { name, version, how } = nameAndVersion(row['Package manager']!);
  const project = new Project(await nodeOf(row['Node.js']!), 'a service with spaces');
  const { file, command } = await INSTALLERS[how === undefined ? name : `${name}, ${how}`]!(project, version, tarball);
  project.write('service.mjs', READS_A_RING);
  project.write('with-sdk.mjs', WITH_SDK);
  expect(await project.node(...file('service.mjs'))).toBe(WHAT_IT_PRINTS);
  expect(await project.node(...file('with-sdk.mjs'))).toBe(WHAT_IT_PRINTS);
  expect(await project.node(...command, '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
}

export async function proveRuntime(row: Row, tarball: string): Promise<void> {
  const { name, version } = nameAndVersion(row['Runtime']!);
  expect(name).toBe('Bun');
  const project = new Project();
  await INSTALLERS['Bun']!(project, version, tarball);
  project.write('service.mjs', READS_A_RING);
  project.write('with-sdk.mjs', WITH_SDK);
  for (const file of ['service.mjs', 'with-sdk.mjs']) {
    expect(await project.program(await bunOf(version), file)).toBe(WHAT_IT_PRINTS);
  }
}
