import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/servers/**/*.test.ts'],
    // Servers of others, which look for changes at intervals of their own.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    fileParallelism: false,
  },
});
