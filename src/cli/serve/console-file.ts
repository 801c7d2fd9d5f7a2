/** Exporter console with a file in place of stdout. Text is appended, so that other programs may rotate the file. */
import { type FileHandle, open } from 'node:fs/promises';
import { inspect } from 'node:util';
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { reasonOf } from '../../errors.js';
import { Failure } from '../process/failure.js';
import type { ExportResult } from './guarded-exporter.js';

/** Unlike on a terminal, no series is left out. */
const WHOLE = { depth: null, maxArrayLength: null, maxStringLength: null };

export class ConsoleFile implements PushMetricExporter {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws Failure when the file cannot be written. */
  static async open(path: string): Promise<ConsoleFile> {
    try {
      return new ConsoleFile(await open(path, 'a'));
    } catch (error) {
      throw new Failure(`the file of the exporter console cannot be written: ${reasonOf(error)}`);
    }
  }

  export(metrics: ResourceMetrics, done: (result: ExportResult) => void): void {
    this.#file.appendFile(textOf(metrics)).then(
      () => done({ code: 0 }),
      (error: unknown) => done({ code: 1, error: error as Error }),
    );
  }

  async forceFlush(): Promise<void> {}

  shutdown(): Promise<void> {
    return this.#file.close();
  }
}

function textOf({ scopeMetrics }: ResourceMetrics): string {
  const metrics = scopeMetrics.flatMap((scope) => scope.metrics);
  return metrics
    .map(({ descriptor, dataPointType, dataPoints }) => inspect({ descriptor, dataPointType, dataPoints }, WHOLE))
    .join('\n')
    .concat('\n');
}
