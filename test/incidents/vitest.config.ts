import { defineConfig } from 'vitest/config';
import { reporters } from '../support/retried.js';

/** Hours of virtual time: these use whole cores, where other tests mostly wait. */
export default defineConfig({
  test: {
    include: ['test/incidents/**/*.test.ts'],
    setupFiles: ['test/support/seed.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    reporters,
  },
});
