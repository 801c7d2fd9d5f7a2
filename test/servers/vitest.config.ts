import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/servers/**/*.test.ts'],
    // The servers detect changes at long intervals.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    fileParallelism: false,
  },
});
