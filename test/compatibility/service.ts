/** The service that reads a ring, in the forms that bundlers, module systems and test runners need. */
import { codeOf } from '../support/docs.js';
import { Project, READS_A_RING, tool } from '../support/package.js';

/** Begin of the import that Jest does without. */
const OF_VITEST = 'import { afterAll, expect, test } from';

const LINES = READS_A_RING.split('\n');
const IMPORTS = LINES.filter((line) => line.startsWith('import '));
const BODY = LINES.filter((line) => !line.startsWith('import ')).join('\n');

const asRequire = (line: string): string => line.replace(/^import (.*) from (.*);$/, 'const $1 = require($2);');
const REQUIRES = IMPORTS.map(asRequire);

/** Without await at the top level, which CommonJS does not have. */
export const AS_ES_MODULE = `${IMPORTS.join('\n')}\n(async () => {${BODY}})();\n`;
export const AS_COMMONJS = `${REQUIRES.join('\n')}\n(async () => {${BODY}})();\n`;

const TESTING = 'docs/testing.md';

/** Returns the test that a page shows for vitest and Jest. */
export function shownTest(runner: 'vitest' | 'Jest', format: 'CommonJS' | 'ES module' = 'ES module'): string {
  const [code, ...more] = codeOf(TESTING).filter((one) => one.includes(OF_VITEST));
  if (code === undefined || more.length > 0) throw new Error(`${TESTING} has not one test with ${OF_VITEST}`);
  const lines = code.split('\n').filter((line) => runner === 'vitest' || !line.includes(OF_VITEST));
  return (format === 'CommonJS' ? lines.map(asRequire) : lines).join('\n');
}

/** Path of a Node.js of this version. */
export async function nodeOf(version: string): Promise<string> {
  if (version === process.versions.node) return process.execPath;
  const name = `node-linux-${process.arch}`;
  return tool(`${name}@${version}`, `${name}/bin/node`);
}

/** The npm for a Node.js: npm 12 needs a newer one than 20. */
export const npmFor = (node: string): Promise<string> =>
  tool(node.startsWith('20.') ? 'npm@11.21.2' : 'npm@12.2.0', 'npm/bin/npm-cli.js');

/** A project with these packages, installed by npm. */
export async function projectWith(node: string, ...packages: string[]): Promise<Project> {
  const project = new Project(await nodeOf(node));
  await project.npm(await npmFor(node), 'install', ...packages);
  return project;
}
