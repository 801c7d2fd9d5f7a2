/** Second tries in CI, and the tests that needed one, at the end of the output. */
import type { Reporter, TestModule } from 'vitest/node';

/**
 * In CI nobody repeats a run: one test of real processes that fails by chance, on a machine with much else to do, refuses no
 * change. A test that fails twice does, and so does an unhandled error.
 */
export const RETRIES = process.env['CI'] ? 1 : 0;

/** Lists them with their first failure: each is a mistake in a test or in the package. */
class RetriedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests('passed')]);
    const lines = tests
      .filter((test) => test.diagnostic()!.retryCount > 0)
      .flatMap((test) => [
        `  ${test.module.relativeModuleId} > ${test.fullName}`,
        ...(test.result().errors ?? []).flatMap(({ message, stack, diff = '' }) =>
          ownLines(`${stack ?? message}\n${diff}`),
        ),
      ]);
    if (lines.length > 0)
      console.log(['tests that passed at the second try, with the first failure:', ...lines, ''].join('\n'));
  }
}

function ownLines(stack: string): string[] {
  return stack.split('\n').flatMap((line) => (/node_modules|<anonymous>/.test(line) ? [] : [`    ${line}`]));
}

/** Reporters of a suite with real processes. */
export const reporters = ['default', new RetriedTests()];
