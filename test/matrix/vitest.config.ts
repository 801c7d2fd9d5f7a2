import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/matrix/**/*.test.ts'],
    globalSetup: 'test/support/pack.ts',
    // Each test installs from a registry, and some run all the others.
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});
