import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { switchedOff } from '../../src/settings/serve-variables.js';
import { nixlExporter } from '../../src/settings/nixl-variables.js';
import { settingsOf } from './serve-settings.js';

const HISTOGRAMS = 'OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION';

describe('settings of serve', () => {
  it('are the defaults if no other value is given', () => {
    expect(settingsOf({}, {})).toEqual({
      exporter: ['prometheus'],
      host: '127.0.0.1',
      port: 9464,
      naming: 'nixl',
      nixlRelease: 'main',
      nixlLabels: 'prometheus',
      series: 'standard',
      hostname: hostname(),
      drainInterval: 20,
      deadTtl: 30_000,
      exportInterval: 60_000,
      exportTimeout: 30_000,
      shutdownTimeout: 10_000,
      otlpFindings: 'off',
      otlpProtocol: 'http/protobuf',
      temporality: 'cumulative',
      histograms: 'explicit',
      page: 'on',
      state: 'on',
      acceptAfter: 86_400_000,
      sysPath: '/sys',
      endedKept: 3_600_000,
      allocatePages: 'on',
      standby: 'off',
      socketMode: '0660',
      protectProbes: 'off',
      logFormat: 'text',
    });
  });

  it('have a host name from the flag, then from the variable', () => {
    const variables = { NIXL_OTEL_HOSTNAME: 'node-7' };
    expect(settingsOf({}, variables).hostname).toBe('node-7');
    expect(settingsOf({ hostname: 'other' }, variables).hostname).toBe('other');
  });

  it("come from the flag, then OpenTelemetry's variable, then NIXL's", () => {
    const nixl = { NIXL_TELEMETRY_PROMETHEUS_PORT: '1' };
    const both = { ...nixl, OTEL_EXPORTER_PROMETHEUS_PORT: '2' };
    expect(settingsOf({}, nixl).port).toBe(1);
    expect(settingsOf({}, both).port).toBe(2);
    expect(settingsOf({ port: 3 }, both).port).toBe(3);
    expect(settingsOf({}, { ...nixl, OTEL_EXPORTER_PROMETHEUS_PORT: '' }).port).toBe(1);
  });

  it("ignore the exporter of NIXL's variable if a flag names one", () => {
    const doca = { NIXL_TELEMETRY_EXPORTER: 'doca' };
    expect(settingsOf({ exporter: ['otlp'] }, doca)).toMatchObject({
      exporter: ['otlp'],
      host: '127.0.0.1',
      port: 9464,
    });
  });

  it.each([
    [{ OTEL_METRICS_EXPORTER: 'otlp, prometheus' }, { exporter: ['otlp', 'prometheus'] }],
    [{ NIXL_TELEMETRY_EXPORTER: 'constructor' }, { exporter: ['constructor'] }],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, { otlpProtocol: 'grpc' }],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' },
      { otlpProtocol: 'http/json' },
    ],
    [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'Delta' }, { temporality: 'delta' }],
    [{ [HISTOGRAMS]: 'Base2_Exponential_Bucket_Histogram' }, { histograms: 'exponential' }],
    [{ [HISTOGRAMS]: 'explicit_bucket_histogram' }, { histograms: 'explicit' }],
    [
      { OTEL_METRIC_EXPORT_INTERVAL: '5000', OTEL_METRIC_EXPORT_TIMEOUT: '400' },
      { exportInterval: 5000, exportTimeout: 400 },
    ],
    [{ NIXL_TELEMETRY_RUN_INTERVAL: '100' }, { drainInterval: 20 }],
    [{ NIXL_TELEMETRY_RUN_INTERVAL: '40' }, { drainInterval: 8 }],
    [{ NIXL_TELEMETRY_RUN_INTERVAL: '1' }, { drainInterval: 1 }],
    [{ NIXL_TELEMETRY_MP_STALE_TTL: '5' }, { deadTtl: 5000 }],
    [{ NIXL_TELEMETRY_DIR: '/a', NIXL_TELEMETRY_MULTIPROC_DIR: '/b' }, { dir: ['/a'] }],
    [{ NIXL_TELEMETRY_MULTIPROC_DIR: '/b' }, { dir: ['/b'] }],
    [{ NIXL_TELEMETRY_EXPORTER: 'BUFFER' }, { exporter: ['prometheus'], port: 9464, host: '127.0.0.1' }],
    [{ NIXL_TELEMETRY_EXPORTER: 'buffer', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '/rings' }, { dir: ['/rings'] }],
    [
      { NIXL_TELEMETRY_EXPORTER: 'Prometheus' },
      { exporter: ['prometheus'], port: 9090, host: '0.0.0.0', nixlLabels: 'prometheus' },
    ],
    [
      { NIXL_TELEMETRY_EXPORTER: 'prometheus_mp', NIXL_TELEMETRY_PROMETHEUS_LOCAL: 'Y' },
      { port: 9090, host: '127.0.0.1', nixlLabels: 'prometheus_mp' },
    ],
    [
      { NIXL_TELEMETRY_EXPORTER: 'prometheus', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '10.0.0.1:7070' },
      { host: '10.0.0.1', port: 7070 },
    ],
    [{ NIXL_OTEL_STATE: 'off' }, { state: 'off' }],
    // OpenTelemetry's words count in any case, and its numbers that cannot be read count as not set.
    [
      { OTEL_METRICS_EXPORTER: ' OTLP,Console,./Mine.mjs', OTEL_EXPORTER_OTLP_PROTOCOL: 'GRPC' },
      { exporter: ['otlp', 'console', './Mine.mjs'], otlpProtocol: 'grpc' },
    ],
    [
      {
        OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'DELTA',
        [HISTOGRAMS]: 'Base2_Exponential_Bucket_Histogram',
      },
      { temporality: 'delta', histograms: 'exponential' },
    ],
    [
      { OTEL_EXPORTER_PROMETHEUS_PORT: 'http', OTEL_METRIC_EXPORT_INTERVAL: '0', OTEL_METRIC_EXPORT_TIMEOUT: '1s' },
      { port: 9464, exportInterval: 60_000, exportTimeout: 30_000 },
    ],
    [{ OTEL_EXPORTER_PROMETHEUS_PORT: '65536', NIXL_TELEMETRY_PROMETHEUS_PORT: '7' }, { port: 7 }],
    [{ NIXL_TELEMETRY_EXPORTER: 'otlp' }, { exporter: ['otlp'] }],
    [
      { NIXL_TELEMETRY_EXPORTER: 'mine', NIXL_TELEMETRY_EXPORTER_PLUGIN_DIR: '/plugins' },
      { exporter: ['mine'], exporterDir: '/plugins' },
    ],
  ])('take %j as %j', (environment, settings) => {
    expect(settingsOf({}, environment)).toMatchObject(settings);
  });

  it.each([
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'http' },
      'OTEL_EXPORTER_OTLP_PROTOCOL is "http"; allowed: http/protobuf, http/json, grpc',
    ],
    [
      { [HISTOGRAMS]: 'exponential' },
      `${HISTOGRAMS} is "exponential"; allowed: explicit_bucket_histogram, base2_exponential_bucket_histogram`,
    ],
    [{ NIXL_OTEL_STATE: 'no' }, 'NIXL_OTEL_STATE is "no"; allowed: on, off'],
    [{ OTEL_METRICS_EXPORTER: 'otlp,,console' }, 'OTEL_METRICS_EXPORTER'],
    [{ NIXL_TELEMETRY_PROMETHEUS_LOCAL: 'maybe' }, 'NIXL_TELEMETRY_PROMETHEUS_LOCAL is "maybe"; allowed: y, yes'],
    [{ NIXL_TELEMETRY_RUN_INTERVAL: '-1' }, 'NIXL_TELEMETRY_RUN_INTERVAL'],
    [
      { NIXL_TELEMETRY_MP_STALE_TTL: '99999999999' },
      'NIXL_TELEMETRY_MP_STALE_TTL is "99999999999"; allowed: a whole number, from 0 to 1099511627',
    ],
    [{ NIXL_TELEMETRY_EXPORTER: 'DOCA' }, 'this package has no DOCA exporter'],
    [{ NIXL_TELEMETRY_EXPORTER: 'prometheus', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '/f' }, 'address:port'],
  ])('refuse %j', (environment, message) => {
    expect(() => settingsOf({}, environment)).toThrow(message);
  });
});

describe('switched off', () => {
  it.each([
    [{}, undefined],
    [{ NIXL_TELEMETRY_ENABLE: 'Enable' }, undefined],
    [{ OTEL_SDK_DISABLED: 'false' }, undefined],
    [{ OTEL_SDK_DISABLED: 'TRUE' }, 'OTEL_SDK_DISABLED is true'],
    [{ NIXL_TELEMETRY_ENABLE: 'OFF' }, 'NIXL_TELEMETRY_ENABLE is OFF'],
  ])('by %j: %s', (environment, reason) => {
    const found = switchedOff(environment);
    if (reason === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(reason);
  });

  it('refuses words that mean neither on nor off', () => {
    expect(() => switchedOff({ NIXL_TELEMETRY_ENABLE: 'perhaps' })).toThrow(
      'NIXL_TELEMETRY_ENABLE is "perhaps"; allowed: y',
    );
  });

  it('accepts NOP', () => {
    expect(nixlExporter({ NIXL_TELEMETRY_EXPORTER: 'NOP' })).toEqual({ kind: 'none', exporters: ['none'] });
  });
});
