/** What an attribute of the configuration may look like. */
import { reasonOf } from '../../errors.js';
import {
  ATTRIBUTE_TYPES,
  type AttributeSpec,
  PLAIN_SOURCES,
  prometheusSpelling,
  takenAttributeName,
} from '../../mapping/index.js';
import { also, list, number, object, type Shape, text, value, word, wordOrObject } from './shape.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_.]*$/;

const name = also(
  value(
    'letters, digits, _ and ., beginning with a letter or _',
    { type: 'string', pattern: NAME.source },
    (given) => typeof given === 'string' && NAME.test(given),
  ),
  (given: string) => {
    const taken = takenAttributeName(given);
    if (taken === undefined) return undefined;
    const alike = taken === given ? '' : `which is spelled like ${taken} in Prometheus, `;
    return `is ${given}, ${alike}which the metrics use themselves`;
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
  ({ pattern, group }: { pattern: string; group: string }) => {
    try {
      // With an empty alternative it matches anything, and then tells which groups there are.
      const groups = Object.keys(new RegExp(`${pattern}|`).exec('')?.groups ?? {});
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
  env: object({ env: text }, ['env']),
  agentEnv: object({ agentEnv: text }, ['agentEnv']),
  record: object({ record: text }, ['record']),
});

const attribute = object(
  {
    name,
    source,
    type: word(ATTRIBUTE_TYPES),
    default: constant,
    order: number('a number', -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  },
  ['name', 'source'],
);

export const ATTRIBUTES: Shape = also(list(attribute), (specs: AttributeSpec[]) => {
  const names = specs.map((spec) => spec.name);
  const spelled = names.map(prometheusSpelling);
  const second = spelled.findIndex((one, i) => spelled.indexOf(one) !== i);
  if (second === -1) return undefined;
  const [one, other] = [names[spelled.indexOf(spelled[second]!)]!, names[second]!];
  return one === other ? `has ${one} twice` : `has ${one} and ${other}, which Prometheus spells alike`;
});
