/** Pages of text have the bytes of OpenTelemetry's serialiser, whatever is kept from the pages before. */
import { type Attributes, diag, DiagLogLevel } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { DataPoint, Histogram, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TEXT } from '../../../src/serve/exposition/forms.js';
import { Page } from '../../../src/serve/exposition/page.js';
import { anyHistogram, anyMetrics, anyValue, gaugeOf, histogramWith, metricsWith } from '../http/any-metrics.js';

const withTarget = new PrometheusSerializer(undefined, false, undefined, false, true);
const withoutTarget = new PrometheusSerializer(undefined, false, undefined, true, true);

/** Returns what the serialiser writes. The server ended its only text without a line end. */
function expectedOf(metrics: ResourceMetrics, serializer = withTarget): string {
  return serializer.serialize(metrics).replace(/(?<!\n)$/, '\n');
}

async function textOf(exposition: Page<string>, metrics: ResourceMetrics): Promise<string> {
  return Buffer.from(await exposition.page(metrics)).toString();
}

/** Values of points in turn: the points, their attributes and bounds stay. */
function withValues(metrics: ResourceMetrics, numbers: readonly number[], histograms: readonly Histogram[]) {
  let next = 0;
  const moved = (value: unknown): unknown => {
    if (typeof value === 'number') return numbers[next++ % numbers.length];
    const { buckets } = value as Histogram;
    const { count, sum, buckets: other } = histograms[next++ % histograms.length]!;
    return {
      count,
      ...(sum === undefined ? {} : { sum }),
      buckets: { ...buckets, counts: buckets.counts.map((_, i) => other.counts[i % other.counts.length]!) },
    };
  };
  return withPoints(metrics, (points) => points.map((point) => ({ ...point, value: moved(point.value) })));
}

function withPoints(metrics: ResourceMetrics, change: (points: DataPoint<unknown>[]) => DataPoint<unknown>[]) {
  const scopeMetrics = metrics.scopeMetrics.map(({ scope, metrics }) => ({
    scope,
    metrics: metrics.map((metric) => ({ ...metric, dataPoints: change(metric.dataPoints) }) as MetricData),
  }));
  return { ...metrics, scopeMetrics };
}

const freeze = (metrics: ResourceMetrics): ResourceMetrics =>
  withPoints(metrics, (points) => points.map((point) => ({ ...point, attributes: Object.freeze(point.attributes) })));

describe('a page', () => {
  it('has the bytes of the serialiser', async () => {
    await fc.assert(
      fc.asyncProperty(anyMetrics, async (metrics) => {
        expect(await textOf(new Page(TEXT), metrics)).toBe(expectedOf(metrics));
        expect(await textOf(new Page(TEXT, false), metrics)).toBe(expectedOf(metrics, withoutTarget));
      }),
      { numRuns: 300 },
    );
  });

  it('has them after pages of the same points with other values, of fewer points, and in another order', async () => {
    const anyNumbers = fc.array(anyValue, { minLength: 1, maxLength: 20 });
    const anyHistograms = fc.array(anyHistogram, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(anyMetrics, anyNumbers, anyHistograms, fc.nat(), async (metrics, numbers, histograms, n) => {
        const exposition = new Page(TEXT);
        const first = freeze(metrics);
        const moved = withValues(first, numbers, histograms);
        const cut = withPoints(moved, (points) => points.slice(n % 2, points.length - (n % 3)));
        const pages = [first, moved, moved, cut, withPoints(moved, (points) => points.toReversed()), moved, metrics];
        for (const page of pages) expect(await textOf(exposition, page)).toBe(expectedOf(page));
      }),
      { numRuns: 300 },
    );
  });

  it('has other bounds and sums as soon as a histogram has them', async () => {
    const attributes = Object.freeze({ agent: 'a' });
    const exposition = new Page(TEXT);
    const own = [10, 20];
    const histograms: Histogram[] = [
      { buckets: { boundaries: own, counts: [1, 2, 3] }, count: 6, sum: 60 },
      { buckets: { boundaries: own, counts: [1, 2, 3] }, count: 6 },
      { buckets: { boundaries: [10, 30], counts: [1, 2, 3] }, count: 6 },
      { buckets: { boundaries: [10, 30, Infinity], counts: [1, 2, 3, 0] }, count: 6 },
      { buckets: { boundaries: [10, 30, Infinity], counts: [1, 2, 3] }, count: 6 },
    ];
    for (const value of histograms) {
      const page = metricsWith(histogramWith('h', attributes, value));
      expect(await textOf(exposition, page)).toBe(expectedOf(page));
    }
    own[1] = 25; // the list of the first page
    const page = metricsWith(histogramWith('h', attributes, histograms[0]!));
    expect(await textOf(exposition, page)).toBe(expectedOf(page));
    own[1] = 26;
    expect(await textOf(exposition, page)).toBe(expectedOf(page));
  });

  it('has other help, unit and type as soon as a metric has them', async () => {
    const exposition = new Page(TEXT);
    const gauge = gaugeOf('same', [{ attributes: Object.freeze({}), value: 1 }]);
    const descriptors = [{ unit: 's' }, { unit: '', description: 'other' }, { name: 'same.', unit: '' }];
    for (const change of [{}, ...descriptors]) {
      const page = metricsWith({ ...gauge, descriptor: { ...gauge.descriptor, ...change } });
      expect(await textOf(exposition, page)).toBe(expectedOf(page));
    }
    const counter = { ...gauge, dataPointType: 3, isMonotonic: true } as MetricData;
    const both = metricsWith(gauge, counter);
    for (const page of [
      both,
      both,
      metricsWith(counter),
      metricsWith({ ...counter, isMonotonic: false } as MetricData),
    ]) {
      expect(await textOf(exposition, page)).toBe(expectedOf(page));
    }
  });
});

describe('attributes', () => {
  let changing = 0;
  const list: string[] = ['a'];
  it.each<[string, Attributes, (attributes: Attributes) => void]>([
    ['a value', { job: 'a' }, (attributes) => (attributes['job'] = 'b')],
    ['a further key', { job: 'a' }, (attributes) => (attributes['rank'] = 1)],
    ['a list in a frozen object', Object.freeze({ list }), () => list.push('b')],
    [
      'a getter in a frozen object',
      Object.freeze(Object.defineProperty({}, 'n', { enumerable: true, get: () => changing })),
      () => changing++,
    ],
  ])('may change between two pages: %s', async (_, attributes, change) => {
    const exposition = new Page(TEXT);
    const page = metricsWith(gaugeOf('gauge', [{ attributes, value: 1 }]));
    const before = expectedOf(page);
    expect(await textOf(exposition, page)).toBe(before);
    change(attributes);
    expect(expectedOf(page)).not.toBe(before);
    expect(await textOf(exposition, page)).toBe(expectedOf(page));
  });
});

it('a value that throws costs its page only', async () => {
  const exposition = new Page(TEXT);
  const attributes = [1, 2, 3].map((agent) => Object.freeze({ agent }));
  const pageOf = (...values: number[]): ResourceMetrics =>
    metricsWith(
      gaugeOf(
        'gauge',
        attributes.map((attributes, i) => ({ attributes, value: values[i]! })),
      ),
    );
  await exposition.page(pageOf(1, 2, 3));
  await expect(exposition.page(pageOf(44, Symbol('no number') as never, 55))).rejects.toThrow(TypeError);
  const page = pageOf(6, 777, 8);
  expect(await textOf(exposition, page)).toBe(expectedOf(page));
});

it('a page that was made is not changed by the next one', async () => {
  const exposition = new Page(TEXT);
  const attributes = Object.freeze({ agent: 'a' });
  const pageOf = (value: number): ResourceMetrics => metricsWith(gaugeOf('gauge', [{ attributes, value }]));
  const first = await exposition.page(pageOf(1));
  await exposition.page(pageOf(2));
  expect(Buffer.from(first).toString()).toBe(expectedOf(pageOf(1)));
});

it('names each label once and validly, where the serialiser does not', async () => {
  const attributes = { 'b.c': 'second', '9.odd': 'x', '': 'y', b_c: 'third', 'b-c': 'first', 'd.e': 2 };
  const page = await textOf(new Page(TEXT, false), metricsWith(gaugeOf('gauge', [{ attributes, value: 1 }])));
  expect(page).toContain('gauge{key_="y",key_9_odd="x",b_c="first;second;third",d_e="2"} 1\n');
});

it('says once what is wrong with a metric, in the words of the serialiser', async () => {
  const said: string[] = [];
  const logger = { error: (text: string) => void said.push(text), warn() {}, info() {}, debug() {}, verbose() {} };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  onTestFinished(() => diag.disable());
  const untyped = { ...gaugeOf('7 un-typed', []), dataPointType: 1 } as unknown as MetricData;
  const page = metricsWith(gaugeOf('', []), gaugeOf('.', []), untyped);
  const expected = expectedOf(page);
  const wanted = said.splice(0);
  expect(wanted).toHaveLength(3);
  const exposition = new Page(TEXT);
  for (let i = 0; i < 2; i++) expect(await textOf(exposition, page)).toBe(expected);
  expect(said).toEqual(wanted);
});

it('lets other work run between slow metrics', async () => {
  const slow: Attributes = {
    get slow() {
      const untilMs = performance.now() + 5;
      while (performance.now() < untilMs);
      return 'yes';
    },
  };
  const metric = gaugeOf('slow', [{ attributes: slow, value: 1 }]);
  let turns = 0;
  const others = setInterval(() => turns++, 1);
  await new Page(TEXT).page(metricsWith(metric, metric, metric, metric));
  clearInterval(others);
  expect(turns).toBeGreaterThanOrEqual(3);
});
