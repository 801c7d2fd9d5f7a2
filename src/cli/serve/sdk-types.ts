/** The SDK's types that this folder deals in, and one that it does not name. */
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';

export type {
  CollectionResult,
  IMetricReader,
  MetricData,
  MetricProducer,
  PushMetricExporter,
  ResourceMetrics,
} from '@opentelemetry/sdk-metrics';

/** Of @opentelemetry/core, which is the SDK's business. */
export type ExportResult = Parameters<Parameters<PushMetricExporter['export']>[1]>[0];
