import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../src/ground/package.js';

it('the instrumentation scope is the package, in name and version', () => {
  const { name, version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    name: string;
    version: string;
  };
  expect({ name: PACKAGE_NAME, version: PACKAGE_VERSION }).toEqual({ name, version });
});
