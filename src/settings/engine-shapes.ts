/** Shape of rows of engines that the configuration adds to the table. */
import { type ConfiguredEngine, ROW_GROUPS } from '../engines/engine-identity.js';
import { reasonOf } from '../ground/errors.js';
import { also, list, object, pattern, type Shape, textShape } from './shape.js';

const MOST_PATTERN = 500;
/**
 * Returns whether a group with a repetition inside is repeated, or a reference repeats what a group found: a text can then take
 * exponential time.
 */
function maySlowDown(source: string): boolean {
  const groups = [false];
  for (const [part] of source.matchAll(/\\.|\[(?:[^\]\\]|\\.)*\]|\)[*+{]?|[(*+{]/g)) {
    if (/^\\[1-9k]/.test(part)) return true;
    if (part === '(') groups.push(false);
    else if (part.startsWith(')')) {
      const repeats = groups.pop() === true;
      if (repeats && part.length > 1) return true;
      groups[Math.max(0, groups.length - 1)] ||= repeats || part.length > 1;
    } else if (/^[*+{]/.test(part)) groups[groups.length - 1] = true;
  }
  return false;
}

const search = also(
  textShape(
    `a regular expression of at most ${MOST_PATTERN} characters`,
    { maxLength: MOST_PATTERN },
    (given) => given !== '' && given.length <= MOST_PATTERN,
  ),
  (given: string) => {
    if (maySlowDown(given))
      return 'repeats a group with a repetition inside, or refers to a group: it could take too long';
    try {
      // With an empty alternative the pattern matches any text, and the match lists all groups.
      const groups = Object.keys(new RegExp(`${given}|`).exec('')?.groups ?? {});
      const strange = groups.find((group) => !ROW_GROUPS.includes(group));
      return strange === undefined ? undefined : `has a group ${strange}; allowed: ${ROW_GROUPS.join(', ')}`;
    } catch (error) {
      return `is no regular expression: ${reasonOf(error)}`;
    }
  },
);

const engine = also(
  object(
    {
      engine: pattern('a word of letters, digits, _, . and -', /^[A-Za-z0-9][\w.-]{0,39}$/),
      command: search,
      agent: search,
    },
    ['engine'],
  ),
  ({ command, agent }: ConfiguredEngine) =>
    command === undefined && agent === undefined
      ? 'has neither a pattern of the command nor one of the agent'
      : undefined,
);

export const ENGINE_ROWS = list(engine as Shape<ConfiguredEngine>);
