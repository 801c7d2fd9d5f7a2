/** The order of test files that mostly wait: one that takes minutes and begins last would wait alone. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Orders these files of a folder before the others. A fresh clone does not know how long a file took. */
export function longestFirst(...names: readonly string[]): typeof BaseSequencer {
  const placeOf = ({ moduleId }: TestSpecification): number => {
    const place = names.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    return place === -1 ? names.length : place;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
    }
  };
}
