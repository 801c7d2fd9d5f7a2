/**
 * A service for NixlInstrumentation: its log, its sources in memory, its clock. Importing this file sets it up before each
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
import { Inside } from '../../src/ground/inside.js';
import type { NixlInstrumentationConfig } from '../../src/index.js';
import { NixlInstrumentation } from '../../src/instrumentation/instrumentation.js';
import { FALLBACK } from '../../src/instrumentation/instruments/instruments-mode.js';
import type { Internals } from '../../src/instrumentation/reporting.js';
import { SourceOpener } from './in-memory-source.js';

export const NOOP_PROVIDER: ApiMeterProvider = { getMeter: () => createNoopMeter() };

export let opener: SourceOpener;
let instrumentations: NixlInstrumentation[];
/** Number of warnings that instruments of the API are used. */
export let fallbacks: number;
/** Log without the warnings that instruments of the API are used, because most tests use these instruments. */
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

/** Makes an instrumentation with the series of preset full, unless the configuration chooses others. */
export function instrumentation(
  config: NixlInstrumentationConfig = {},
  internals: Internals = {},
): NixlInstrumentation {
  const { openSource } = opener;
  const one = new NixlInstrumentation(
    { directories: '/rings', hostname: 'h', ...(config.builders === undefined && { series: 'full' }), ...config },
    new Inside({ openSource, now: () => 0, ...internals }),
  );
  instrumentations.push(one);
  return one;
}

/** Returns the number of batch callbacks of a provider. The field is private, but no other check shows that none is left. */
export function callbacksOf(provider: MeterProvider): number {
  interface Private {
    _sharedState: { meterSharedStates: Map<string, { observableRegistry: { _batchCallbacks: unknown[] } }> };
  }
  const states = (provider as unknown as Private)._sharedState.meterSharedStates.values();
  return [...states].reduce((sum, { observableRegistry }) => sum + observableRegistry._batchCallbacks.length, 0);
}
