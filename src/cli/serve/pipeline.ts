/** From rings to exporters: the source, and one output for each exporter. */
import os from 'node:os';
import { diag } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BuilderMetrics } from '../../instrumentation/builders/builder-metrics.js';
import { type ProducerSettings, warnOfNoEffect } from '../../settings/settings.js';
import { ExporterFailures } from '../../instrumentation/exporter-failures.js';
import { LateFeed, SourceFeed } from '../../instrumentation/snapshot-feed.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../instrumentation/version.js';
import { openSource } from '../../shm-bridge/index.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import { note } from '../process/output.js';
import { exporterLabels } from './exporter-labels.js';
import type { Handler } from '../http/metrics-server.js';
import { openOutput, type Output } from './outputs.js';
import type { ServeSettings } from '../../settings/serve-rows.js';

export class MetricsPipeline {
  readonly #feed: SourceFeed;
  readonly #outputs: readonly Output[];
  readonly #builderMetrics: BuilderMetrics;

  private constructor(feed: SourceFeed, outputs: readonly Output[], builderMetrics: BuilderMetrics) {
    this.#feed = feed;
    this.#outputs = outputs;
    this.#builderMetrics = builderMetrics;
  }

  /**
   * The exporters come first: while one of them cannot be had, not a single event is taken out of a ring.
   * @throws NixlTelemetryError CONFIG_INVALID, ADDON_MISSING; Failure
   */
  static async open(
    { source: sourceOptions, ...profile }: ProducerSettings,
    settings: ServeSettings,
  ): Promise<MetricsPipeline> {
    const logger = diag.createComponentLogger({ namespace: PACKAGE_NAME });
    warnOfNoEffect(profile, logger);
    const builderMetrics = BuilderMetrics.of(profile, logger);
    const feed = new LateFeed();
    const resource = serviceResource();
    const failures = new ExporterFailures([...exporterLabels(settings.exporter).values()]);
    const shared = { ...profile, feed, builderMetrics };
    const outputs: Output[] = [];
    try {
      for (const name of settings.exporter) {
        outputs.push(await openOutput(name, { settings, resource, shared, failures }));
      }
      const sourceFeed = new SourceFeed(openSource({ ...sourceOptions, ...builderMetrics.wants }), logger, failures);
      builderMetrics.attach(sourceFeed.source);
      builderMetrics.begin();
      feed.attach(sourceFeed);
      return new MetricsPipeline(sourceFeed, outputs, builderMetrics);
    } catch (error) {
      await closeAll(outputs, settings.shutdownTimeout);
      throw error;
    }
  }

  /** Of the exporter that is asked, if there is one. */
  get page(): Handler | undefined {
    return this.#outputs.find(({ page }) => page !== undefined)?.page;
  }

  /** Drains the rings now, and says what they told so far. */
  read(): Snapshot | undefined {
    return this.#feed.read(this);
  }

  /** What is known without draining anything. */
  look(): Snapshot | undefined {
    return this.#feed.look();
  }

  /** Each output collects and exports once more, all at the same time and within the limit. */
  async close(limitMs: number): Promise<void> {
    try {
      await closeAll(this.#outputs, limitMs);
    } finally {
      this.#builderMetrics.close();
      this.#feed.close();
    }
  }
}

async function closeAll(outputs: readonly Output[], limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), limitMs);
  });
  await Promise.all(
    outputs.map(async (output) => {
      const { name } = output;
      const end = Promise.resolve()
        .then(() => output.close())
        .catch((error: unknown) => note(`exporter ${name}: ${String(error)}`, 'warning'));
      if ((await Promise.race([end, late])) === 'late') {
        note(`exporter ${name} did not end in ${limitMs} ms: its last export may be missing`, 'warning');
      }
    }),
  );
  clearTimeout(timer);
}

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES go before what this package says of itself. */
function serviceResource(): Resource {
  const own = resourceFromAttributes({
    'service.name': 'nixl-otel',
    'service.version': PACKAGE_VERSION,
    'host.name': os.hostname(),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}
