import { describe, expect, it } from 'vitest';
import { CATEGORIES, EVENTS, metricsOf, NAMINGS, PRESETS, tallyOptions } from '../../src/mapping/index.js';

/** Returns all series names of a metric in the spelling of a Prometheus exporter. */
function prometheusNames(name: string, kind: string): string[] {
  const base = name.replace(/[^a-z0-9_]/gi, '_').replace(/_{2,}/g, '_');
  if (kind === 'histogram') return [base, `${base}_count`, `${base}_sum`, `${base}_bucket`];
  return [kind === 'counter' && !base.endsWith('_total') ? `${base}_total` : base];
}

describe('the event table', () => {
  it('has one row per type number, without gaps and in order', () => {
    expect(EVENTS.map(({ type }) => type)).toEqual(Array.from({ length: EVENTS.length }, (_, i) => i));
    expect(EVENTS.length).toBeGreaterThanOrEqual(21);
  });

  it('names each event once, in either spelling', () => {
    const spellings = tallyOptions().types.flatMap(({ names }) => names);
    expect(new Set(spellings).size).toBe(spellings.length);
    for (const name of spellings) expect(Buffer.byteLength(name)).toBeLessThan(32);
  });

  it('knows the spelling of wire version 1, which names failures as NIXL statuses', () => {
    const { types } = tallyOptions();
    expect(types[0]!.names[0]).toBe('agent_tx_bytes');
    expect(types[8]!.names[0]).toBe('NIXL_ERR_NOT_POSTED');
    expect(types[17]!.names[0]).toBe('NIXL_ERR_REMOTE_DISCONNECT');
  });

  it('puts each event into one of the eight categories', () => {
    expect(CATEGORIES).toHaveLength(8);
    const categories = EVENTS.map(({ category }) => category);
    expect(categories).toEqual([1, 1, 1, 1, 0, 0, 5, 5, ...new Array<number>(12).fill(4), 6]);
  });

  it('gives an event the metrics of its kind in both namings', () => {
    for (const row of EVENTS) {
      expect(row.nixl.counter, row.event).toBeDefined();
      expect(row.otel.counter, row.event).toBeDefined();
      for (const naming of NAMINGS) {
        expect(row[naming].gauge !== undefined, row.event).toBe(row.kind !== 'counter');
        expect(row[naming].histogram !== undefined, row.event).toBe(row.kind === 'counter-gauge-histogram');
      }
    }
  });
});

describe.each(NAMINGS)('metric names in naming %s', (naming) => {
  const metrics = metricsOf(naming, { builders: PRESETS.full.builders });

  it('are different from each other after Prometheus has sanitised them', () => {
    const names = metrics.flatMap(({ name, kind }) => prometheusNames(name, kind));
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it('are names that the OpenTelemetry SDK accepts', () => {
    for (const { name, description } of metrics) {
      expect(name).toMatch(/^[a-zA-Z][-_./a-zA-Z0-9]{0,254}$/);
      expect(description).toMatch(/^.+\.$/);
    }
  });

  it('have points that differ in their labels', () => {
    for (const { name, points } of metrics) {
      const labels = points.map((point) => JSON.stringify(Object.entries(point.labels).sort()));
      expect(new Set(labels).size, name).toBe(labels.length);
    }
  });
});
