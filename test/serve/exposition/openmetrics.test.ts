/** Pages of OpenMetrics are valid, and have the series of the text. test/real reads them with the strict parser of others. */
import type { MetricData } from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPENMETRICS, TEXT } from '../../../src/serve/exposition/forms.js';
import { Page } from '../../../src/serve/exposition/page.js';
import { openMetricsBound } from '../../../src/serve/exposition/spelling.js';
import { checkedFamilies, seriesOf } from '../../support/openmetrics.js';
import { anyMetrics, gaugeOf, histogramWith, metricsWith } from '../http/any-metrics.js';

const POINT = [{ attributes: {}, value: 1 }];

async function pageOf(form: typeof OPENMETRICS | typeof TEXT, ...metrics: MetricData[]): Promise<string> {
  return Buffer.from(await new Page(form, false).page(metricsWith(...metrics))).toString();
}

function counterOf(name: string): MetricData {
  return { ...gaugeOf(name, POINT), dataPointType: 3, isMonotonic: true } as MetricData;
}

it('has the series of the text, whatever the metrics are', async () => {
  await fc.assert(
    fc.asyncProperty(anyMetrics, async (metrics) => {
      const [text, page] = await Promise.all(
        [TEXT, OPENMETRICS].map(async (form) => Buffer.from(await new Page(form).page(metrics)).toString()),
      );
      checkedFamilies(page!);
      const hasNoSum = (line: string): boolean => !/_sum[{ ]/.test(line); // of histograms with negative values
      expect(seriesOf(page!).filter(hasNoSum)).toEqual(seriesOf(text!).filter(hasNoSum));
    }),
    { numRuns: 300 },
  );
});

describe('a counter', () => {
  it('has the name of its series without _total', async () => {
    const page = await pageOf(OPENMETRICS, counterOf('requests'));
    expect(page).toBe('# HELP requests description missing\n# TYPE requests counter\nrequests_total 1\n# EOF\n');
  });

  it.each([
    [counterOf('agent_xfer_time_total'), gaugeOf('agent_xfer_time', POINT)],
    [gaugeOf('agent_xfer_time', POINT), counterOf('agent_xfer_time_total')],
  ])('beside a gauge of that name keeps the name of its series', async (...metrics) => {
    const families = checkedFamilies(await pageOf(OPENMETRICS, ...metrics));
    expect(Object.fromEntries(families)).toEqual({ agent_xfer_time: 'gauge', agent_xfer_time_total: 'unknown' });
  });
});

it('escapes quotation marks in a help', async () => {
  const gauge = gaugeOf('g', POINT);
  const page = await pageOf(OPENMETRICS, { ...gauge, descriptor: { ...gauge.descriptor, description: 'a "b" \\\n' } });
  expect(page).toContain('# HELP g a \\"b\\" \\\\\\n\n');
});

it('has the target as info, no unit, and no sum of a histogram with negative bounds', async () => {
  const value = { buckets: { boundaries: [-1, 5], counts: [1, 1, 1] }, count: 3, sum: 4 };
  const histogram = histogramWith('h', {}, value);
  const metrics = metricsWith({ ...histogram, descriptor: { ...histogram.descriptor, unit: 's' } });
  const page = Buffer.from(await new Page(OPENMETRICS).page(metrics)).toString();
  expect(page.split('\n')).toEqual([
    '# HELP target Target metadata',
    '# TYPE target info',
    'target_info 1',
    '# HELP h description missing',
    '# TYPE h histogram',
    'h_bucket{le="-1.0"} 1',
    'h_bucket{le="5.0"} 2',
    'h_bucket{le="+Inf"} 3',
    'h_count 3',
    '# EOF',
    '',
  ]);
});

it('is only the end without metrics', async () => {
  expect(await pageOf(OPENMETRICS)).toBe('# EOF\n');
});

// As Go's strconv.FormatFloat(bound, 'g', -1, 64), with a point.
it.each([
  [0, '0.0'],
  [1, '1.0'],
  [0.5, '0.5'],
  [-2.5, '-2.5'],
  [1e-4, '0.0001'],
  [1e-5, '1e-05'],
  [250_000, '250000.0'],
  [999_999.5, '999999.5'],
  [1e6, '1e+06'],
  [1_048_576, '1.048576e+06'],
  [2.5e10, '2.5e+10'],
  [1e100, '1e+100'],
  [Infinity, '+Inf'],
])('the bound %d is %s', (bound, text) => expect(openMetricsBound(bound)).toBe(text));
