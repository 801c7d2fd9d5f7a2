import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { longestFirst } from './test/support/longest-first.js';
import { pureFiles } from './test/support/pure-files.js';
import { reporters, RETRIES } from './test/support/retried.js';

/** Suites with a configuration of their own: they need registries, a browser, or programs from Debian. */
const suites = readdirSync('test').filter((folder) => existsSync(`test/${folder}/vitest.config.ts`));

const exclude = suites.map((folder) => `test/${folder}/**`);
const pure = pureFiles('test');

export default defineConfig({
  test: {
    exclude,
    // A run decides on the code alone. `npm run fuzz` draws other seeds.
    setupFiles: ['test/support/seed.ts'],
    // Real rings, threads and processes: a test waits for a condition, on a machine that may have much else to do. The
    // limits only end a test that waits for what never comes.
    testTimeout: 600_000, // a kernel was seen to let most processes of a loaded machine wait for four minutes
    hookTimeout: 600_000,
    expect: { poll: { timeout: 500_000, interval: 20 } },
    pool: 'forks',
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      // The addon has one collector thread per process: a process per file keeps test files apart.
      { extends: true, test: { name: 'isolated', include: ['test/**/*.test.ts'], exclude: pure } },
    ],
    maxWorkers: Math.max(3, availableParallelism()), // they wait more than they work, also on two cores
    sequence: {
      sequencer: longestFirst('durability', 'top', 'rings', 'screen', 'held-up-thread', 'live'),
    },
    retry: RETRIES,
    reporters,
  },
});
