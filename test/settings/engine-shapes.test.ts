import { describe, expect, it } from 'vitest';
import { ENGINE_ROWS } from '../../src/settings/engine-shapes.js';

const problemsOf = (...rows: readonly object[]) =>
  ENGINE_ROWS.problems(rows).map(({ path, text }) => `${path.join('.')} ${text}`);

describe('rows of engines', () => {
  it.each([
    { engine: 'mover', command: String.raw`mover --side (?<role>\w+) .*--port (?<instance>\d+)` },
    { engine: 'mover', agent: '^mover-(?<tp>\\d+)$' },
    { engine: 'a.b-c', command: '(?:x|y)+ [(+]{1,3} \\(a+\\)', agent: '.' },
  ])('%o', (row) => expect(problemsOf(row)).toEqual([]));

  it.each([
    [{ command: 'x' }, /engine/],
    [{ engine: 'x' }, /neither a pattern of the command nor one of the agent/],
    [{ engine: 'a b', agent: 'x' }, /a word of letters/],
    [{ engine: 'x', agent: '(' }, /is no regular expression/],
    [{ engine: 'x', agent: '(?<who>.)' }, /has a group who; allowed: part, instance, model, role, dp, /],
    [{ engine: 'x', agent: 'x'.repeat(501) }, /at most 500/],
    [{ engine: 'x', command: '(a+)+$' }, /could take too long/],
    [{ engine: 'x', command: '(?:\\w*b)*' }, /could take too long/],
    [{ engine: 'x', command: '(x(a+))+' }, /could take too long/],
    [{ engine: 'x', command: '(.)\\1' }, /could take too long/],
    [{ engine: 'x', more: 1, agent: 'x' }, /more/],
  ])('not %o', (row, problem) => expect(problemsOf(row).join('\n')).toMatch(problem));
});
