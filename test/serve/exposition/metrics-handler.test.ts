/** /metrics in two formats: negotiated, compressed, coalesced, and failing. */
import { setImmediate } from 'node:timers/promises';
import { ValueType } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import { describe, expect, it, onTestFinished } from 'vitest';
import { metricsHandler } from '../../../src/serve/exposition/metrics-handler.js';
import { type Answer, listenOn } from '../../../src/serve/http/metrics-server.js';
import type { PageCollection } from '../../../src/instrumentation/producer/metric-producer.js';
import { TimeSlices } from '../../../src/ground/time-slices.js';
import { checkedFamilies, seriesOf } from '../../support/openmetrics.js';
import { familiesIn, textOf } from '../../support/prometheus-families.js';

const PROTOBUF = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6';
const COMPRESSED = 2000;

function gauge(points: number): MetricData {
  return {
    descriptor: { name: 'gauge', description: 'A gauge.', unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.GAUGE,
    dataPoints: Array.from({ length: points }, (_, i) => ({
      ...{ startTime: [0, 0], endTime: [1, 0], attributes: { number: String(i) }, value: i },
    })),
  };
}

const histogram: MetricData = {
  descriptor: { name: 'sizes', description: 'Sizes.', unit: '', valueType: ValueType.DOUBLE },
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
  dataPointType: DataPointType.HISTOGRAM,
  dataPoints: [
    {
      ...{ startTime: [0, 0], endTime: [1, 0], attributes: {} },
      value: { count: 3, sum: 7, buckets: { boundaries: [1, 5], counts: [1, 1, 1] } },
    },
  ],
};

/** A server of metrics. `held`: collections that wait for their end. */
async function serverOf(options: { points?: number; error?: Error; holds?: boolean } = {}) {
  const { points = 3, error, holds = false } = options;
  const held: (() => void)[] = [];
  let asked = 0;
  const ends: boolean[] = [];
  const wants: boolean[] = [];
  const collect = async <T>(exponential: boolean, use: (collection: PageCollection) => Promise<T>): Promise<T> => {
    wants.push(exponential);
    if (holds) await new Promise<void>((resolve) => held.push(resolve));
    if (error !== undefined) throw error;
    const scopeMetrics = [{ metrics: [gauge(points), histogram] }];
    const metrics = { resource: resourceFromAttributes({}), scopeMetrics };
    return use({ metrics, slices: new TimeSlices(), errors: [] });
  };
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }]);
  onTestFinished(() => server.close());
  const handler = metricsHandler({ collect }, true, (isMade, seconds) => {
    expect(seconds).toBeGreaterThan(0);
    ends.push(isMade);
  });
  server.route('/metrics', (request, answer, room) => {
    asked++;
    handler(request, answer, room);
  });
  const get = (accept?: string, { query = '', ...init }: RequestInit & { query?: string } = {}) =>
    fetch(`${server.urls[0]!}${query}`, {
      ...init,
      headers: { ...init.headers, ...(accept === undefined ? {} : { accept }) },
    });
  return { get, held, wants, asked: () => asked, ends };
}

describe('/metrics', () => {
  it('answers protobuf to clients that prefer it, with the series of the text', async () => {
    const { get } = await serverOf();
    const text = await get();
    const protobuf = await get(PROTOBUF);
    expect(text.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(protobuf.headers.get('content-type')).toBe(
      'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
    );
    const bytes = new Uint8Array(await protobuf.arrayBuffer());
    expect(protobuf.headers.get('content-length')).toBe(String(bytes.length));
    const lines = (await text.text()).split('\n').filter((line) => line !== '');
    expect(familiesIn(bytes).flatMap(textOf)).toEqual(lines);
    expect(lines).toContain('gauge{number="2"} 2');
  });

  it.each([
    ['text', undefined],
    ['protobuf', PROTOBUF],
  ])('has only the families that name[] names, as %s', async (_, accept) => {
    const { get } = await serverOf();
    const linesAt = async (query: string) => {
      const answer = await get(accept, { query });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
      return accept === undefined
        ? Buffer.from(bytes).toString().split('\n').slice(0, -1)
        : familiesIn(bytes).flatMap(textOf);
    };
    const all = await linesAt('');
    const named = (...names: string[]) =>
      all.filter((line) => names.some((name) => new RegExp(`^(# \\w+ )?${name}`).test(line)));
    expect(await linesAt('?name[]=gauge')).toEqual(named('gauge'));
    expect(await linesAt('?name%5B%5D=sizes_bucket&name[]=target_info')).toEqual(named('target_info', 'sizes'));
    expect(await linesAt('?name[]=sizes')).toEqual(named('sizes'));
    expect(await linesAt('?name[]=gauge_sum&name[]=absent')).toEqual([]);
    expect(await linesAt('?name[]=gauge&name[]=target_info&name[]=sizes_count')).toEqual(all);
    expect(await linesAt('?name=gauge')).toEqual(all);
  });

  it('answers OpenMetrics to clients that prefer it, also in parts', async () => {
    const { get } = await serverOf();
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.4,*/*;q=0.1';
    const [text, whole, part, none] = [
      await get(),
      await get(accept),
      await get(accept, { query: '?name[]=sizes' }),
      await get(accept, { query: '?name[]=absent' }),
    ];
    expect(whole.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const page = await whole.text();
    expect(Object.fromEntries(checkedFamilies(page))).toEqual({ target: 'info', gauge: 'gauge', sizes: 'histogram' });
    expect(seriesOf(page)).toEqual(seriesOf(await text.text()));
    expect([...checkedFamilies(await part.text()).keys()]).toEqual(['sizes']);
    expect(await none.text()).toBe('# EOF\n');
  });

  it('collects exponential histograms for protobuf only', async () => {
    const { get, wants } = await serverOf();
    await get();
    await get(PROTOBUF);
    expect(wants).toEqual([false, true]);
  });

  it('keeps text between two scrapes, and nothing that changes', async () => {
    const { get } = await serverOf();
    const [first, second] = [await (await get()).text(), await (await get()).text()];
    expect(second).toBe(first);
    expect(first).toMatch(/^# HELP target_info .*gauge\{number="2"\} 2\n.*\n$/s);
  });

  it('declares for caches that the answer depends on both headers', async () => {
    const { get } = await serverOf();
    const vary = [await get(), await get(PROTOBUF)].map(({ headers }) => headers.get('vary'));
    expect(vary).toEqual(['accept, accept-encoding', 'accept, accept-encoding']);
  });

  it('compresses protobuf', async () => {
    const { get } = await serverOf({ points: COMPRESSED });
    const plain = await get(PROTOBUF, { headers: { 'accept-encoding': 'identity' } });
    const packed = await get(PROTOBUF, { headers: { 'accept-encoding': 'gzip' } });
    expect([plain, packed].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
    const families = familiesIn(new Uint8Array(await packed.arrayBuffer()));
    expect(families).toEqual(familiesIn(new Uint8Array(await plain.arrayBuffer())));
    expect(families[1]!.metric).toHaveLength(COMPRESSED);
    expect(Number(packed.headers.get('content-length'))).toBeLessThan(Number(plain.headers.get('content-length')) / 2);
  });

  it('answers HEAD with the headers of GET', async () => {
    const { get } = await serverOf();
    const [head, whole] = [await get(PROTOBUF, { method: 'HEAD' }), await get(PROTOBUF)];
    for (const name of ['content-type', 'content-length', 'vary']) {
      expect(head.headers.get(name)).toBe(whole.headers.get(name));
    }
    expect((await head.arrayBuffer()).byteLength).toBe(0);
  });

  it('reports a failed collection as text, in both formats', async () => {
    const { get, ends } = await serverOf({ error: new Error('no rings') });
    for (const accept of [undefined, PROTOBUF]) {
      const { status, headers, text } = await get(accept).then(async (answer) => ({
        ...{ status: answer.status, headers: answer.headers, text: await answer.text() },
      }));
      expect([status, text]).toEqual([500, '# failed to export metrics: no rings\n']);
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(headers.get('vary')).toBe('accept, accept-encoding');
    }
    expect(ends).toEqual([false, false]);
  });

  it('collects once for all that wait for the same format', async () => {
    const { get, held, asked, ends } = await serverOf({ holds: true });
    const first = get(PROTOBUF);
    await expect.poll(() => held.length).toBe(1);
    const answers = [first, get(PROTOBUF), get(PROTOBUF), get()];
    await expect.poll(asked).toBe(4);
    expect(held).toHaveLength(2); // text does not wait for protobuf
    held[0]!();
    await expect.poll(() => held.length).toBe(3); // for both that came later
    held[1]!();
    held[2]!();
    const types = (await Promise.all(answers)).map(({ headers }) => headers.get('content-type')!.split(';')[0]);
    expect(types).toEqual([...Array<string>(3).fill('application/vnd.google.protobuf'), 'text/plain']);
    expect(held).toHaveLength(3);
    expect(ends).toEqual([true, true, true]);
  });
});

describe.each([
  ['text', undefined],
  ['protobuf', PROTOBUF],
])('the memory of a page in %s', (_, accept) => {
  it('is not that of the next page while one of its answers is sent and another one could not be', async () => {
    let value = 10;
    const collect = <T>(_: boolean, use: (collection: PageCollection) => Promise<T>) => {
      const { dataPoints, ...one } = gauge(COMPRESSED);
      const metrics = [{ ...one, dataPoints: dataPoints.map((point) => ({ ...point, value })) }];
      return use({
        metrics: { resource: resourceFromAttributes({}), scopeMetrics: [{ metrics }] } as never,
        slices: new TimeSlices(),
        errors: [],
      });
    };
    const handler = metricsHandler({ collect }, true, () => {});
    const given: Uint8Array[] = [];
    const request = (answer: Answer) => handler({ headers: { accept } } as never, answer, async () => {});
    const isClosed: Answer = (_, __, ___, ____, sent) => sent!();
    const isSlow: Answer = (_, bytes) => given.push(bytes as Uint8Array);
    // The first request makes a page of its own. The further ones share the next page.
    for (const answer of [isSlow, isClosed, isSlow]) request(answer);
    await expect.poll(() => given.length).toBe(2);
    const before = Buffer.from(given[1]!);
    value = 20;
    for (const length of [3, 4]) {
      request(isSlow);
      await expect.poll(() => given.length).toBe(length);
    }
    expect(Buffer.from(given[1]!)).toEqual(before);
  });

  it('is that of the next page once all its answers have been sent, and not before', async () => {
    let value = 10;
    const metrics = () => {
      const { dataPoints, ...one } = gauge(COMPRESSED);
      const points = dataPoints.map((point) => ({ ...point, value: value }));
      return { resource: resourceFromAttributes({}), scopeMetrics: [{ metrics: [{ ...one, dataPoints: points }] }] };
    };
    const collect = <T>(_: boolean, use: (collection: PageCollection) => Promise<T>) =>
      use({ metrics: metrics() as never, slices: new TimeSlices(), errors: [] });
    const handler = metricsHandler({ collect }, true, () => {});
    /** Answers as many requests as there are numbers, of the same page. */
    const answers = async (requests: number) => {
      const given: { bytes: Uint8Array; sent: () => void }[] = [];
      const answer: Answer = (_, bytes, __, ___, sent) => given.push({ bytes: bytes as Uint8Array, sent: sent! });
      for (let i = 0; i < requests; i++) handler({ headers: { accept } } as never, answer, async () => {});
      await expect.poll(() => given.length).toBe(requests);
      return given;
    };
    await answers(1); // makes the first page, of whose length nothing is known
    const [first, ...waiting] = await answers(3);
    expect(waiting[1]!.bytes).toBe(waiting[0]!.bytes);
    first!.sent();
    waiting[0]!.sent();
    const before = Buffer.from(waiting[1]!.bytes);
    value = 20;
    const [other] = await answers(1);
    expect(Buffer.from(waiting[1]!.bytes)).toEqual(before);
    expect(other!.bytes.buffer).not.toBe(waiting[1]!.bytes.buffer);
    other!.sent();
    await setImmediate();
    const [reused] = await answers(1);
    expect(reused!.bytes.buffer).toBe(other!.bytes.buffer);
    waiting[1]!.sent();
    await setImmediate();
    expect((await answers(1))[0]!.bytes.buffer).toBe(waiting[1]!.bytes.buffer);
  });
});
