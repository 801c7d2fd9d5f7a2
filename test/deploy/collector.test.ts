/** The collector's configuration, compared with the attributes that serve sends. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { attributeSpecs } from '../../src/mapping/attributes.js';
import { at } from './manifests.js';

interface Collector {
  receivers: object;
  processors: {
    groupbyattrs: { keys: string[] };
    k8sattributes: {
      pod_association: { sources: { from: string; name: string }[] }[];
      extract: { metadata: string[] };
    };
  };
  exporters: object;
  service: { pipelines: { metrics: Record<'receivers' | 'processors' | 'exporters', string[]> } };
}

const { receivers, processors, exporters, service } = parse(
  readFileSync(at('otel-collector/config.yaml'), 'utf8'),
) as Collector;

test('the collector groups by all attributes of kubernetes, and by no other', () => {
  const names = attributeSpecs(['kubernetes']).map(({ name }) => name);
  expect(processors.groupbyattrs.keys.toSorted()).toEqual(names.toSorted());
});

test('the collector looks pods up by attributes that the groups have, after it has made the groups', () => {
  const sources = processors.k8sattributes.pod_association.flatMap((one) => one.sources);
  expect(sources.length).toBeGreaterThan(0);
  for (const { from, name } of sources) {
    expect(from).toBe('resource_attribute');
    expect(processors.groupbyattrs.keys).toContain(name);
    expect(processors.k8sattributes.extract.metadata).toContain(name); // the processor finds no pod by other attributes
  }
  const order = service.pipelines.metrics.processors;
  expect(order.indexOf('groupbyattrs')).toBeLessThan(order.indexOf('k8sattributes'));
});

test('the pipeline uses all parts of the collector, each once', () => {
  const used = service.pipelines.metrics;
  expect(used.receivers.toSorted()).toEqual(Object.keys(receivers).toSorted());
  expect(used.processors.toSorted()).toEqual(Object.keys(processors).toSorted());
  expect(used.exporters.toSorted()).toEqual(Object.keys(exporters).toSorted());
});
