/**
 * A host for NixlInstrumentation: its log, its sources in memory, its clock. Importing this file sets it up before each
 * test, and checks after each one that disabled instrumentations left no open source and no timer.
 */
import {
  createNoopMeter,
  diag,
  DiagLogLevel,
  type MeterProvider as ApiMeterProvider,
  metrics,
} from '@opentelemetry/api';
import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { NixlInstrumentation, NixlInstrumentationConfig } from '../../src/index.js';
import { instrumentationWith } from '../../src/instrumentation/instrumentation.js';
import { FALLBACK, type Internals } from '../../src/instrumentation/reporting.js';
import { SourceOpener } from './in-memory-source.js';

export const NOOP_PROVIDER: ApiMeterProvider = { getMeter: () => createNoopMeter() };

export let opener: SourceOpener;
let instrumentations: NixlInstrumentation[];
/** How often it was said that instruments of the API are used. */
export let fallbacks: number;
/** Without the warning that instruments of the API are used: most tests are about those. */
export let log: { level: string; message: string }[];

beforeEach(() => {
  vi.useFakeTimers();
  opener = new SourceOpener();
  instrumentations = [];
  log = [];
  fallbacks = 0;
  const writer =
    (level: string) =>
    (...line: unknown[]) => {
      const message = String(line[1]);
      if (message === FALLBACK) fallbacks++;
      else log.push({ level, message });
    };
  const [error, warn] = [writer('error'), writer('warn')];
  const logger = { error, warn, info: () => {}, debug: () => {}, verbose: () => {} };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
});

afterEach(() => {
  for (const instrumentation of instrumentations) instrumentation.disable();
  expect(opener.open).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
  metrics.disable();
  diag.disable();
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

export function instrumentation(
  config: NixlInstrumentationConfig = {},
  internals: Internals = {},
): NixlInstrumentation {
  const { openSource } = opener;
  const one = instrumentationWith(
    { openSource, now: () => 0, ...internals },
    { directories: '/rings', hostname: 'h', ...config },
  );
  instrumentations.push(one);
  return one;
}

/** The batch callbacks that a provider holds: private to the SDK, and the only proof that none is left behind. */
export function callbacksOf(provider: MeterProvider): number {
  interface Private {
    _sharedState: { meterSharedStates: Map<string, { observableRegistry: { _batchCallbacks: unknown[] } }> };
  }
  const states = (provider as unknown as Private)._sharedState.meterSharedStates.values();
  return [...states].reduce((sum, { observableRegistry }) => sum + observableRegistry._batchCallbacks.length, 0);
}
