/** Checks of OpenMetrics 1.0, of what its pages may say, and their series as lines of the text format. */
import { expect } from 'vitest';

/** Ends of the names of series, by the type of their family. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum'],
  info: ['_info'],
  unknown: [''],
};
const CANONICAL_BOUND = /^(\+Inf|-?\d+\.\d+|-?\d(\.\d+)?e[+-]\d\d+)$/;

/** Returns the type of each family. */
export function checkedFamilies(page: string): Map<string, string> {
  expect(page.endsWith('# EOF\n')).toBe(true);
  const families = new Map<string, string>();
  const wrong: string[] = []; // an expectation for each line would take longer than the page
  let [name, type] = ['', ''];
  for (const line of page.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    const [, keyword, family, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      expect(families.has(family!), line).toBe(false);
      expect(rest!.replaceAll(/\\["n\\]/g, ''), line).not.toMatch(/["\\]/);
      name = family!;
      continue;
    }
    if (keyword === 'TYPE') {
      expect(family).toBe(name);
      families.set(name, (type = rest!));
      expect(ENDS, line).toHaveProperty([type]);
      continue;
    }
    if (!isSeriesOf(name, type, line)) wrong.push(line);
  }
  expect(wrong).toEqual([]);
  return families;
}

function isSeriesOf(family: string, type: string, line: string): boolean {
  const [, series] = /^([a-zA-Z_:][\w:]*)[{ ]/.exec(line) ?? [];
  if (!ENDS[type]!.some((end) => series === family + end)) return false;
  const [, bound] = /le="([^"]*)"\} /.exec(line) ?? [];
  return type === 'histogram' && series!.endsWith('_bucket') ? CANONICAL_BOUND.test(bound ?? '') : true;
}

/** Returns the series in an order that pages in other formats can have, with bounds as numbers. */
export function seriesOf(page: string): string[] {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines
    .map((line) => line.replace(/le="([^"]*)"\} /, (_, le) => `le="${Number(`${le}`.replace('Inf', 'Infinity'))}"} `))
    .sort();
}
