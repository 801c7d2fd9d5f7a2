import { defineConfig } from 'vitest/config';
import { reporters } from '../support/retried.js';

/** Starts engines that take minutes and gigabytes, one file after the other. */
export default defineConfig({
  test: {
    include: ['test/vllm/**/*.test.ts'],
    // The limits only end a test that waits for what never comes: a busy machine starts an engine in ten minutes.
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    fileParallelism: false,
    reporters,
  },
});
