/** The exposition in slices equals the exposition of one call. */
import { type Attributes, ValueType } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextExposition } from '../../../src/cli/http/exposition.js';
import { anyMetrics } from './any-metrics.js';

describe('exposition', () => {
  it('is what the serialiser writes of all metrics at once', async () => {
    const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
    await fc.assert(
      fc.asyncProperty(anyMetrics, async (metrics) => {
        expect(Buffer.from(await new TextExposition().page(metrics)).toString()).toBe(serializer.serialize(metrics).replace(/(?<!\n)$/, '\n'));
      }),
      { numRuns: 300 },
    );
  });

  it('lets other work run between slow metrics', async () => {
    const attributes: Attributes = {
      get slow() {
        const untilMs = performance.now() + 5;
        while (performance.now() < untilMs);
        return 'yes';
      },
    };
    const metric: MetricData = {
      descriptor: { name: 'slow', description: '', unit: '', valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.GAUGE,
      dataPoints: [{ startTime: [0, 0], endTime: [1, 0], attributes, value: 1 }],
    };
    let turns = 0;
    const others = setInterval(() => turns++, 1);
    const scopeMetrics = [{ scope: { name: 'scope' }, metrics: [metric, metric, metric, metric] }];
    await new TextExposition().page({ resource: resourceFromAttributes({}), scopeMetrics });
    clearInterval(others);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});
