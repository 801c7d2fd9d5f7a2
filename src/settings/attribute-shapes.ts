/** Shapes of custom attributes. */
import { shown } from '../ground/arguments.js';
import { reasonOf } from '../ground/errors.js';
import {
  ATTRIBUTE_SET_NAMES,
  ATTRIBUTE_TYPES,
  type AttributeSet,
  attributeSpecs,
  type AttributeSpec,
  type AttributeType,
  type AttributeValue,
  convert,
  PLAIN_SOURCES,
  prometheusSpelling,
  takenAttributeName,
} from '../mapping/index.js';
import {
  also,
  either,
  list,
  number,
  object,
  pattern,
  type Problem,
  type Shape,
  text,
  value,
  variableName,
  word,
  wordOrObject,
} from './shape.js';

const name = also(
  pattern('letters, digits, _ and ., beginning with a letter or _', /^[A-Za-z_][A-Za-z0-9_.]*$/),
  (given: string) => {
    const taken = takenAttributeName(given);
    if (taken === undefined) return undefined;
    const alike = taken === given ? '' : `which is spelled like ${taken} in Prometheus, `;
    return `is ${given}, ${alike}which is a label of the metrics`;
  },
);

const constant = value(
  'a text, a number, true, false or an array of texts',
  { anyOf: [{ type: ['string', 'number', 'boolean'] }, { type: 'array', items: { type: 'string' } }] },
  (given) =>
    ['string', 'boolean'].includes(typeof given) ||
    Number.isFinite(given) ||
    (Array.isArray(given) && given.every((one) => typeof one === 'string')),
);

const patternSource = also(
  object({ pattern: text, group: text }, ['pattern', 'group']),
  ({ pattern: source, group }: { pattern: string; group: string }) => {
    try {
      // With an empty alternative the pattern matches any text, and the match lists all groups.
      const groups = Object.keys(new RegExp(`${source}|`).exec('')?.groups ?? {});
      return groups.includes(group)
        ? undefined
        : `has no group ${group} in its pattern; there are ${groups.join(', ') || 'none'}`;
    } catch (error) {
      return `has a pattern that is no regular expression: ${reasonOf(error)}`;
    }
  },
);

const source = wordOrObject(word(PLAIN_SOURCES), {
  pattern: patternSource,
  constant: object({ constant }, ['constant']),
  env: object({ env: variableName }, ['env']),
  agentEnv: object({ agentEnv: variableName }, ['agentEnv']),
  podEnv: object({ podEnv: variableName }, ['podEnv']),
  record: object({ record: text }, ['record']),
});

const DEFAULTS: Readonly<Record<AttributeType, readonly [allowed: string, fits: (given: AttributeValue) => boolean]>> =
  {
    string: ['a text', (given) => typeof given === 'string'],
    text: ['a text', (given) => typeof given === 'string'],
    boolean: ['true or false', (given) => typeof given === 'boolean'],
    integer: ['a whole number', (given) => Number.isSafeInteger(given)],
    list: ['an array of texts', (given) => Array.isArray(given)],
  };

const attribute = also(
  object(
    {
      name,
      source,
      type: word(ATTRIBUTE_TYPES),
      default: constant,
      order: number('a number', -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    },
    ['name', 'source'],
  ),
  ({ type = 'string', source, default: usual }: AttributeSpec) => {
    const problems: Problem[] = [];
    const [allowed, fits] = DEFAULTS[type];
    if (usual !== undefined && !fits(usual)) {
      problems.push({ path: ['default'], text: `is ${shown(usual)}; allowed with type ${type}: ${allowed}` });
    }
    if (typeof source === 'object' && 'constant' in source && convert(source.constant, type) === undefined) {
      const text = `is ${shown(source.constant)}, which has no value of type ${type}: the attribute would always be left out`;
      problems.push({ path: ['source', 'constant'], text });
    }
    return problems;
  },
);

/** Refuses two attributes with one name. A name of a set has the place of the set's word. */
function withoutTwins<T extends AttributeSpec | AttributeSet>(shape: Shape<T[]>): Shape<T[]> {
  return also(shape, (given: T[]): readonly Problem[] => {
    const named = given.flatMap((one, place) => attributeSpecs([one]).map((spec) => ({ one, place, name: spec.name })));
    return named.flatMap(({ one, place, name }, i) => {
      const first = named.find((other) => prometheusSpelling(other.name) === prometheusSpelling(name))!;
      if (first === named[i]) return [];
      const alike = first.name === name ? 'is' : `is spelled in Prometheus like ${first.name},`;
      const text = `is ${name}, which ${alike} the name of attributes[${first.place}]`;
      if (typeof one !== 'string') return [{ path: [place, 'name'], text }];
      return [{ path: [place], text: `is ${one}, whose attribute ${text}` }];
    });
  });
}

export const ATTRIBUTE_SPECS = withoutTwins(list(attribute as Shape<AttributeSpec>));

const set = word(ATTRIBUTE_SET_NAMES);
const sets = `or the word ${set.allowed}`;

/** The text of a flag can name sets, but has no attributes. */
export const ATTRIBUTES: Shape<(AttributeSpec | AttributeSet)[]> = {
  ...withoutTwins(list(either(attribute as Shape<AttributeSpec>, set, sets, (one) => typeof one === 'string'))),
  parse: (text) => text.split(',').map((one) => set.parse!(one.trim())),
};
