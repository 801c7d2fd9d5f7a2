import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/page/**/*.test.ts'],
    globalSetup: ['test/page/install-chromium.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
