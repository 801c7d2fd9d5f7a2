import { defineConfig } from 'vitest/config';
import { longestFirst } from '../support/longest-first.js';
import { reporters, RETRIES } from '../support/retried.js';

export default defineConfig({
  test: {
    include: ['test/servers/**/*.test.ts'],
    // The servers detect changes at long intervals. The limits only end a test that waits for what never comes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: RETRIES,
    reporters,
    maxWorkers: 3, // they wait more than they work, also on two cores
    sequence: {
      sequencer: longestFirst('absent-serves', 'alerts', 'alerts-otel', 'rules', 'otlp', 'stalled-clients', 'access'),
    },
  },
});
