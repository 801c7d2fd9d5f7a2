/** Exporter console with a file in place of stdout. Text is appended, so that other programs may rotate the file. */
import { open } from 'node:fs/promises';
import { inspect } from 'node:util';
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { orFailure } from '../../process/failure.js';

/** Unlike on a terminal, no series is left out. */
const WHOLE = { depth: null, maxArrayLength: null, maxStringLength: null };

/** Opens the file. @throws Failure if it cannot be written. */
export async function consoleFileExporter(path: string): Promise<PushMetricExporter> {
  const file = await orFailure('the file of the exporter console cannot be written', () => open(path, 'a'));
  return {
    export: (metrics, done) => {
      file.appendFile(textOf(metrics)).then(
        () => done({ code: 0 }),
        (error: unknown) => done({ code: 1, error: error as Error }),
      );
    },
    forceFlush: async () => {},
    shutdown: () => file.close(),
  };
}

function textOf({ scopeMetrics }: ResourceMetrics): string {
  const metrics = scopeMetrics.flatMap((scope) => scope.metrics);
  return metrics
    .map(({ descriptor, dataPointType, dataPoints }) => inspect({ descriptor, dataPointType, dataPoints }, WHOLE))
    .join('\n')
    .concat('\n');
}
