/**
 * The registry in semconv/ has the structure that `weaver` asks for. The schema is the part of weaver's semconv.schema.json
 * and semconv-syntax.md that a registry of metrics needs, and stricter: it allows no other fields.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as semconv from '../src/mapping/semconv.js';
import { PACKAGE_VERSION } from '../src/ground/package.js';
import { ROOT } from './cli/command.js';

interface Attribute {
  readonly id: string;
  readonly ref: string;
  readonly type: string | { readonly members: readonly { readonly id: string; readonly value: string }[] };
  readonly examples?: readonly string[];
}

interface Group {
  readonly id: string;
  readonly type: string;
  readonly metric_name: string;
  readonly unit: string;
  readonly attributes?: readonly Attribute[];
}

const fileOf = (name: string): unknown => parse(readFileSync(path.join(ROOT, 'semconv', name), 'utf8'));

const text = { type: 'string', minLength: 1 };
const stability = { enum: ['development', 'alpha', 'beta', 'release_candidate', 'stable'] };
const closed = (properties: object, optional: readonly string[] = []): object => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
});
const listOf = (items: object): object => ({ type: 'array', minItems: 1, items });

const REQUIREMENT = {
  oneOf: [
    { enum: ['required', 'recommended', 'opt_in'] },
    closed({ conditionally_required: text }),
    closed({ recommended: text }),
  ],
};
const METRIC = closed(
  {
    id: { type: 'string', pattern: '^metric\\.' },
    type: { const: 'metric' },
    metric_name: { type: 'string', pattern: '^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+$' },
    stability,
    brief: text,
    note: text,
    instrument: { enum: ['counter', 'gauge', 'histogram', 'updowncounter'] },
    unit: { type: 'string', pattern: '^(|1|By(/s)?|s|\\{[a-z]+\\})$' },
    attributes: listOf(closed({ ref: text, requirement_level: REQUIREMENT })),
  },
  ['note', 'attributes'],
);
const MEMBERS = closed({
  members: listOf(closed({ id: { type: 'string', pattern: '^[a-z0-9_]+$' }, value: text, stability })),
});
const ATTRIBUTE_GROUP = closed({
  id: text,
  type: { const: 'attribute_group' },
  display_name: text,
  brief: text,
  attributes: listOf(
    closed(
      { id: text, type: { oneOf: [{ const: 'string' }, MEMBERS] }, stability, brief: text, examples: listOf(text) },
      ['examples'],
    ),
  ),
});

/** Attributes of OpenTelemetry's registry, which manifest.yaml depends on. */
const FOREIGN = [
  ...['container.id', 'error.type', 'k8s.container.name', 'k8s.namespace.name', 'k8s.pod.name'],
  ...['process.pid', 'process.runtime.version', 'service.version'],
];

function constants(prefix: 'METRIC_' | 'ATTR_'): string[] {
  return Object.entries(semconv).flatMap(([name, value]) => (name.startsWith(prefix) ? [value] : []));
}

describe('the registry in semconv/', () => {
  const { groups: metrics } = fileOf('metrics.yaml') as { groups: Group[] };
  const { groups: attributeGroups } = fileOf('attributes.yaml') as { groups: Group[] };
  const attributes = attributeGroups.flatMap((group) => group.attributes!);

  it.each([
    ['metrics.yaml', METRIC],
    ['attributes.yaml', ATTRIBUTE_GROUP],
  ])('has groups as the schema of semantic conventions defines them: %s', (name, group) => {
    const ajv = new Ajv({ allErrors: true });
    expect(ajv.validate(closed({ groups: listOf(group) }), fileOf(name)), ajv.errorsText()).toBe(true);
  });

  it('has a manifest with the address of this version', () => {
    expect(fileOf('manifest.yaml')).toMatchObject({
      name: 'opentelemetry-instrumentation-nixl',
      schema_url: expect.stringMatching(new RegExp(`^https://[^ ]+/${PACKAGE_VERSION}$`)) as string,
      dependencies: [
        { schema_url: expect.stringMatching(/^https:\/\/opentelemetry\.io\/schemas\/\d+\.\d+\.\d+$/) as string },
      ],
    });
  });

  it('has each metric and attribute once, by its own name', () => {
    for (const ids of [metrics.map(({ id }) => id), attributes.map(({ id }) => id)]) {
      expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
    }
    expect(metrics.filter(({ id, metric_name: name }) => id !== `metric.${name}`)).toEqual([]);
  });

  it('has all metrics but those whose attributes a service chooses, and all attributes', () => {
    const chosen = /^nixl\.(records|comprehensive|builders)\b/;
    const expected = constants('METRIC_').filter((name) => !chosen.test(name));
    expect(metrics.map(({ metric_name: name }) => name).sort()).toEqual(expected.sort());
    expect(attributes.map(({ id }) => id).sort()).toEqual(constants('ATTR_').sort());
  });

  it('refers to attributes that exist, and uses each that it declares', () => {
    const refs = new Set(metrics.flatMap((metric) => (metric.attributes ?? []).map(({ ref }) => ref)));
    expect([...refs].sort()).toEqual([...attributes.map(({ id }) => id), ...FOREIGN].sort());
  });

  it('has examples of each attribute without fixed values', () => {
    for (const { id, type, examples } of attributes) expect(type === 'string', id).toBe(examples !== undefined);
  });
});
