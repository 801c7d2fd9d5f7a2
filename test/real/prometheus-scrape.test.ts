/** A real Prometheus 3 scrapes a real serve: the tests of test/servers, which otherwise run that of Debian. */
import { describe } from 'vitest';
// Here, its processes end after each test of the file. Imported by a suite, only after the tests of that suite.
import '../cli/command.js';
import { providePrometheus } from './tools.js';

const SUITES = {
  'names and labels': () => import('../servers/arithmetic.test.js'),
  'native histograms': () => import('../servers/native-histograms.test.js'),
  'start times': () => import('../servers/start-times.test.js'),
  'killed serves': () => import('../servers/killed-serve.test.js'),
};

const isThere = await providePrometheus();

for (const [name, suite] of Object.entries(SUITES)) {
  describe.skipIf(!isThere)(name, async () => {
    await suite();
  });
}
