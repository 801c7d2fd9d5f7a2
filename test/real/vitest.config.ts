import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    globalSetup: 'test/real/setup.ts',
    testTimeout: 300_000,
    hookTimeout: 180_000,
    maxWorkers: 2, // they wait more than they work
  },
});
