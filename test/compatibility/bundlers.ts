/** Bundles a service, moves it away from its packages, and counts. */
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { NAME, Project, ROOT, tool, WHAT_IT_PRINTS } from '../support/package.js';
import { nameAndVersion, type Row } from './page.js';
import { AS_ES_MODULE, projectWith } from './service.js';

interface Bundle {
  readonly isModule: boolean;
  readonly isOutside: boolean;
  readonly version: string;
}

/** Each bundles service.mjs of the project, and returns its file. */
const BUNDLERS: Readonly<Record<string, (project: Project, bundle: Bundle) => Promise<string>>> = { esbuild, webpack };

const BANNER =
  "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

async function esbuild(project: Project, { isModule, isOutside, version }: Bundle): Promise<string> {
  const file = `out/service.${isModule ? 'mjs' : 'cjs'}`;
  const format = isModule ? ['--format=esm', BANNER] : ['--format=cjs'];
  const outside = isOutside ? [settingOf('esbuild')] : [];
  const platform = `@esbuild/linux-${process.arch}`;
  const program = await tool(`esbuild@${version}`, `${platform}/bin/esbuild`);
  const flags = ['--bundle', '--platform=node', '--log-level=warning', `--outfile=${file}`];
  await project.program(program, 'service.mjs', ...flags, ...format, ...outside);
  return file;
}

async function webpack(project: Project, { isModule, isOutside, version }: Bundle): Promise<string> {
  const file = `service.${isModule ? 'mjs' : 'cjs'}`;
  const module = isModule ? 'experiments: { outputModule: true },' : '';
  const output = isModule ? "module: true, chunkFormat: 'module'" : '';
  const externals = isOutside ? `${settingOf('webpack')},` : '';
  project.write(
    'bundle.cjs',
    `const webpack = require(process.argv[2]);
     const folder = __dirname;
     // Not minimized: Node.js prints the line of an error, and loses the message after a line longer than a pipe.
     const config = { mode: 'production', optimization: { minimize: false }, target: 'node20', context: folder, entry: './service.mjs', ${module} ${externals}
       output: { path: folder + '/out', filename: '${file}', ${output} } };
     webpack(config, (error, stats) => {
       const problems = error ?? (stats.hasErrors() || stats.hasWarnings() ? stats.toString('errors-warnings') : undefined);
       if (problems !== undefined) throw problems instanceof Error ? problems : new Error(problems);
     });`,
  );
  await project.node('bundle.cjs', await tool(`webpack@${version}`, 'webpack/lib/index.js'));
  return `out/${file}`;
}

/** Returns the setting that docs/install.md has for a bundler. */
function settingOf(bundler: string): string {
  const text = readFileSync(path.join(ROOT, 'docs/install.md'), 'utf8');
  const [, setting] = new RegExp(`^\\| ${bundler} +\\| \`(.*)\` +\\|$`, 'm').exec(text) ?? [];
  if (setting === undefined) throw new Error(`docs/install.md has no setting for ${bundler}`);
  return setting;
}

export async function proveBundler(row: Row, tarball: string): Promise<void> {
  const { name, version } = nameAndVersion(row['Bundler']!);
  const bundle = { version, isModule: row['Output'] === 'ES module', isOutside: row['The package is'] === 'outside' };
  const project = await projectWith(process.versions.node, tarball);
  project.write('service.mjs', AS_ES_MODULE);
  const file = await BUNDLERS[name]!(project, bundle);
  if (bundle.isOutside) {
    expect(await project.node(file)).toBe(WHAT_IT_PRINTS);
    return;
  }
  const prebuilt = `node_modules/${NAME}/prebuilds/linux-${process.arch}-glibc/nixl_otel.node`;
  const elsewhere = new Project();
  const moved = path.join(elsewhere.directory, file);
  mkdirSync(path.dirname(moved));
  copyFileSync(path.join(project.directory, file), moved);
  copyFileSync(path.join(project.directory, prebuilt), path.join(elsewhere.directory, 'out/nixl_otel.node'));
  expect(await elsewhere.withVariables({ NIXL_OTEL_ADDON: 'out/nixl_otel.node' }).node(file)).toBe(WHAT_IT_PRINTS);

  // Without the variable, the first line of the error says what helps. A bundle of webpack names files of its machine.
  rmSync(path.join(project.directory, 'node_modules'), { recursive: true });
  const failure = (await elsewhere
    .withVariables({})
    .node(file)
    .catch((error: unknown) => error)) as { stderr: string };
  const helps = `cannot be found from inside a bundle: keep ${NAME} out of the bundle \\(esbuild: .*; webpack: .*; Next.js: .*\\)`;
  expect(failure.stderr).toMatch(new RegExp(`Error: nixl_otel\\.node ${helps}, or copy .* NIXL_OTEL_ADDON`));
}
