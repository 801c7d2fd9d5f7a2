import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { expect, it, vi } from 'vitest';
import { GuardedExporter } from '../../src/serve/outputs/guarded-exporter.js';
import { Owner } from '../../src/serve/outputs/owners.js';

it('knows since when exports fail, and the reason of the last failure, until one succeeds', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  let error: Error | undefined;
  const inner: PushMetricExporter = {
    export: (_, done) => done(error === undefined ? { code: 0 } : { code: 1, error }),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const guarded = new GuardedExporter(inner, new Owner('exporter mine'), 1000, { target: 'http://collector:4318' });
  const exportWith = (given: Error | undefined) => {
    error = given;
    guarded.export({} as ResourceMetrics, () => {});
    return guarded.failing;
  };
  expect(exportWith(undefined)).toBeUndefined();
  expect(exportWith(new Error('refused'))).toEqual({ failingSinceMs: 1000, reason: 'http://collector:4318: refused' });
  vi.setSystemTime(2000);
  expect(exportWith(new Error('slow'))).toEqual({ failingSinceMs: 1000, reason: 'http://collector:4318: slow' });
  expect(exportWith(undefined)).toBeUndefined();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
