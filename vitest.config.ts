import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/package/**'], // they need binaries and a registry: npm run test:package
    // Real rings, threads and processes on a small machine: a test waits for a condition and needs room to.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The addon has one collector thread per process: a process per file keeps test files apart.
    pool: 'forks',
  },
});
