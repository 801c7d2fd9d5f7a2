/** Module systems and languages: CommonJS, TypeScript. */
import path from 'node:path';
import { expect } from 'vitest';
import { NAME, tool, WHAT_IT_PRINTS } from '../support/package.js';
import { nameAndVersion, type Row } from './page.js';
import { AS_COMMONJS, projectWith } from './service.js';

export async function proveCommonJs(row: Row, tarball: string): Promise<void> {
  const project = await projectWith(row['Node.js']!, tarball);
  project.write('service.cjs', `require('${NAME}/register');\n${AS_COMMONJS}`);
  expect(await project.outputs(project.nodeFile, 'service.cjs')).toEqual({ stdout: WHAT_IT_PRINTS, stderr: '' });
}

/** A service in TypeScript: in a CommonJS file tsc makes `require` of its imports. */
const SERVICE = `
import { METRIC_NIXL_EVENTS, NixlInstrumentation, type NixlInstrumentationConfig } from '${NAME}';
import { openRing, type Ring, RingWriter } from '${NAME}/rings';
import { TestRings } from '${NAME}/testing';
import '${NAME}/register';
const config: NixlInstrumentationConfig = { directories: '/no/such/directory' };
const instrumentation: NixlInstrumentation = new NixlInstrumentation(config);
const open: (path: string) => Ring = openRing;
console.log(typeof instrumentation, typeof open, typeof RingWriter, typeof TestRings, METRIC_NIXL_EVENTS);
`;
const PRINTED = 'object function function function nixl.events\n';

/** The form that only CommonJS has. */
const IMPORT_EQUALS = `
import nixl = require('${NAME}');
import rings = require('${NAME}/rings');
const instrumentation: typeof nixl.NixlInstrumentation = nixl.NixlInstrumentation;
const open: (path: string) => rings.Ring = rings.openRing;
console.log(typeof instrumentation, typeof open);
`;

/** Without skipLibCheck: the declarations of the package are checked as well. */
const FLAGS = ['--strict', '--noEmitOnError', '--target', 'es2022', '--types', 'node', '--outDir', 'out'];

export async function proveTypeScript(row: Row, tarball: string): Promise<void> {
  const { version } = nameAndVersion(row['TypeScript']!);
  const tsc = await tool(`typescript@${version}`, 'typescript/bin/tsc');
  const project = await projectWith(process.versions.node, tarball, '@types/node@20');
  const [, module, resolution] = /^`(\w+)`(?: with moduleResolution `(\w+)`)?$/.exec(row['module']!)!;
  // This mode asks no package.json: what it writes is CommonJS.
  if (module === 'commonjs') project.write('package.json', '{ "name": "a-service", "private": true }');
  const mode = ['--module', module!, ...(resolution === undefined ? [] : ['--moduleResolution', resolution])];
  const files = row['Files']!.split(', ').map((ending) => `service-${ending.slice(2, -1)}.${ending.slice(2, -1)}`);
  for (const file of files) project.write(file, SERVICE);
  if (files.includes('service-cts.cts')) {
    project.write('import-equals.cts', IMPORT_EQUALS);
    files.push('import-equals.cts');
  }
  await project.node(tsc, ...FLAGS, ...mode, ...files);
  if (resolution !== undefined) return; // a bundler runs the output, not Node.js
  for (const file of files) {
    const printed = await project.node(path.join('out', file.replace(/ts$/, 'js')));
    expect(printed).toBe(file.startsWith('import-equals') ? 'function function\n' : PRINTED);
  }
}
