import { defineConfig } from 'vitest/config';
import { reporters, RETRIES } from '../support/retried.js';

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/browser/install-chromium.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: RETRIES,
    reporters,
    fileParallelism: false,
  },
});
