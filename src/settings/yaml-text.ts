/** YAML with positions. */
import type * as Yaml from 'yaml';
import { packageFolder } from '../ground/package.js';
import { requireFrom } from '../ground/require-from.js';
import type { Located, Mistake } from './located.js';
import type { Path } from './shape.js';

/** Parses a text. `peek`: returns a scalar, even if the text has mistakes elsewhere. */
export function readYaml(text: string): Located & { readonly peek: (path: Path) => unknown } {
  const { parseDocument, visit } = requireFrom(
    packageFolder('package yaml', 'CONFIG_INVALID', 'write the configuration as JSON'),
  )('yaml') as typeof Yaml;
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  // A warning reports a tag without a meaning here. Without the tag, its value would mean something else.
  const found = [...document.errors, ...document.warnings];
  const mistakes: Mistake[] = found.map(({ pos, message }) => ({ offset: pos[0], message }));
  if (mistakes.length === 0) {
    visit(document, {
      Alias(_, alias, around) {
        const meant = alias.resolve(document);
        const problem = meant === undefined ? noAnchor : around.includes(meant) ? cyclic : undefined;
        if (problem !== undefined) mistakes.push({ offset: alias.range?.[0] ?? 0, message: problem(alias.source) });
      },
    });
  }
  return {
    mistakes,
    value: () => (document.toJS() as unknown) ?? {},
    offsetOf: (path) => offsetOf(document, path),
    peek: (path) => document.getIn(path),
  };
}

/** Returns the message for an alias without an anchor. Most of these are meant as globs that begin with `*`. */
function noAnchor(name: string): string {
  return `*${name} is an alias in YAML, and the file has no anchor &${name}; text that begins with * needs quotes: '*${name}'`;
}

function cyclic(name: string): string {
  return `*${name} is an alias inside of its own anchor &${name}: the value would never end`;
}

function offsetOf(document: Yaml.Document, at: Path): number {
  for (let length = at.length; length > 0; length--) {
    const key = at[length - 1];
    const parent = length === 1 ? document.contents : document.getIn(at.slice(0, length - 1), true);
    const { items = [] } = (parent ?? {}) as { items?: readonly Item[] };
    const item = items.find((one, i) => (typeof key === 'number' ? i === key : one.key?.value === key));
    const start = (item?.key ?? item)?.range?.[0];
    if (start !== undefined) return start;
  }
  return 0;
}

/** A pair of a map, or an element of a list. */
interface Item {
  readonly key?: { readonly value?: unknown; readonly range?: readonly number[] };
  readonly range?: readonly number[];
}
