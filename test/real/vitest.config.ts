import { defineConfig } from 'vitest/config';
import { longestFirst } from '../support/longest-first.js';
import { reporters, RETRIES } from '../support/retried.js';

export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    globalSetup: 'test/real/setup.ts',
    // The limits only end a test that waits for what never comes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: RETRIES,
    reporters,
    maxWorkers: 3, // they wait more than they work, also on two cores
    sequence: {
      sequencer: longestFirst(
        'nixl',
        'nixl-settings',
        'prometheus-alerts',
        'prometheus-scrape',
        'prometheus-silence',
        'shared-ring',
      ),
    },
  },
});
