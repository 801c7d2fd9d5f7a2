/** Setup of test files: properties draw the same values in each run, or those of the seed in `NIXL_TEST_SEED`. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['NIXL_TEST_SEED'] ?? 1) });
