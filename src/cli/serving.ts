/** What serve and demo have in common: an address, a pipeline behind it, and the order in which the two come and go. */
import type { NixlOptions } from '../instrumentation/config.js';
import { listenOn } from './metrics-server.js';
import type { ServingOptions } from './options.js';
import { MetricsPipeline } from './pipeline.js';

/**
 * Serves while `work` runs. The address comes first: who cannot serve must not take a single event out of a ring.
 * @throws Failure when the address cannot be had; NixlTelemetryError; what `work` throws.
 */
export async function whileServing(
  { host, port, naming, drainInterval }: ServingOptions,
  rings: NixlOptions,
  work: (pipeline: MetricsPipeline, url: string) => Promise<void>,
): Promise<void> {
  const server = await listenOn(host, port);
  let pipeline: MetricsPipeline | undefined;
  try {
    const draining = drainInterval === undefined ? {} : { drainIntervalMs: drainInterval };
    pipeline = new MetricsPipeline({ ...rings, naming, ...draining });
    server.publish(pipeline.writePage);
    await work(pipeline, server.url);
  } finally {
    await server.close();
    await pipeline?.close();
  }
}
