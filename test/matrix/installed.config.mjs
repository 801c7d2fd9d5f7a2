// Configuration of vitest for tests of the installed package: imports from src resolve to the package's dist.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const PACKAGE = 'opentelemetry-instrumentation-nixl';
const root = import.meta.dirname;
const dist = path.join(root, 'node_modules', PACKAGE, 'dist');

const suites = readdirSync(path.join(root, 'test')).filter((folder) =>
  existsSync(path.join(root, 'test', folder, 'vitest.config.ts')),
);

const installed = {
  name: 'installed',
  enforce: 'pre',
  resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.')) return undefined;
    const inside = path.relative(path.join(root, 'src'), path.resolve(path.dirname(importer), source));
    return inside.startsWith('..') ? undefined : path.join(dist, inside);
  },
};

export default defineConfig({
  plugins: [installed],
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      ...suites.map((folder) => `test/${folder}/**`),
      'test/{api-report,architecture,cli/setup,compatibility/page,docs,instrumentation/version,mapping/prometheus-names,registry,shm-bridge/native-files}.test.ts', // are about a checkout
    ],
    setupFiles: ['test/support/seed.ts'],
    server: { deps: { inline: [new RegExp(PACKAGE)] } }, // mocks of tests must reach into it
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    pool: 'forks',
    maxWorkers: '100%', // as in the checkout: tests wait more than they work
  },
});
