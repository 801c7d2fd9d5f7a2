import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // They need registries, a browser, or programs from Debian: see the scripts `test:...` of package.json.
    exclude: ['package', 'page', 'servers', 'real', 'matrix', 'deploy'].map((folder) => `test/${folder}/**`),
    // Real rings, threads and processes: a test waits for a condition, on a machine that may have much else to do. The
    // limits only end a test that waits for what never comes.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // The addon has one collector thread per process: a process per file keeps test files apart.
    pool: 'forks',
    // They wait more than they work: vitest's own choice, a core less than there is, would be one at a time on two cores.
    maxWorkers: '100%',
  },
});
