import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/package/**/*.test.ts'],
    globalSetup: 'test/support/pack.ts',
    // Each test installs from a registry.
    testTimeout: 900_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
});
