/** Outputs of custom exporters: readers of metrics, or exporters that push. */
import type { CollectionResult, MetricProducer } from '@opentelemetry/sdk-metrics';
import { Inside } from '../../ground/inside.js';
import { histogramsFor } from '../../instrumentation/joining/aggregations.js';
import { NixlMetricProducer } from '../../instrumentation/producer/metric-producer.js';
import { AggregationTemporality } from '../../instrumentation/sdk-enums.js';
import { withNixlConfig } from '../../settings/nixl-config.js';
import { type CustomReader, isExporter, loadExporter } from './custom-exporter.js';
import type { Opening, Output } from './output.js';
import type { ServeResource } from './resource.js';

/** Loads the module. Getters, constructor and methods are a user's code, and may throw anything. @throws Failure */
export async function customOutput(opening: Opening): Promise<Output> {
  const { name, settings, shared, owner } = opening;
  const resource = await opening.resource();
  const outputPath = withNixlConfig(process.env)['NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH'];
  let reader: CustomReader | undefined = undefined;
  const producer = new NixlMetricProducer(
    {
      temporality: (type) => reader?.selectAggregationTemporality?.(type) ?? AggregationTemporality.CUMULATIVE,
      histograms: () => histogramsFor(reader ?? {}, 'explicit'),
    },
    new Inside(shared),
  );
  const { given, set } = pairOf(producer, resource);
  const context = {
    name,
    settings,
    resource: resource.current(),
    metricProducer: given,
    ...(outputPath ? { outputPath } : {}),
  };
  const custom = await loadExporter(context, owner);
  if (isExporter(custom)) {
    producer.close(); // otherwise dead agents would be kept for it, as for a reader that never reads
    const { pushOutput } = await import('./push-output.js');
    return pushOutput(custom, opening);
  }
  reader = custom;
  owner.run(() => custom.setMetricProducer(set));
  return { name, close: () => owner.run(() => custom.shutdown()) };
}

/**
 * Returns the producer twice: for the constructor of a reader, and for setMetricProducer(). After a collect of the first,
 * the second is empty. Both report the resource, which a reader without a provider takes from its collect.
 */
function pairOf(
  producer: NixlMetricProducer,
  serveResource: ServeResource,
): { given: MetricProducer; set: MetricProducer } {
  let isGivenUsed = false;
  const collect = async (): Promise<CollectionResult> => {
    const { resourceMetrics, errors } = await producer.collect();
    return { resourceMetrics: { ...resourceMetrics, resource: serveResource.current() }, errors };
  };
  return {
    given: {
      collect: () => {
        isGivenUsed = true;
        return collect();
      },
    },
    set: {
      collect: async () => {
        // A reader collects all of its producers in one turn, and this one first.
        await Promise.resolve();
        if (!isGivenUsed) return collect();
        return { resourceMetrics: { resource: serveResource.current(), scopeMetrics: [] }, errors: [] };
      },
    },
  };
}
