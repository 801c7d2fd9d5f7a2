/** Settings and variables without effect: refused if they are certainly a mistake, otherwise named in one warning. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { unusedSettings } from '../../src/serve/outputs/exporter-settings.js';
import { unusedVariables } from '../../src/settings/serve-variables.js';
import { serveSettings } from '../../src/settings/serve-rows.js';
import { start, temporaryDirectory } from './command.js';
import { runHere } from './in-process.js';
import { resolved } from './serve-settings.js';

function fileWith(text: string): string {
  const file = path.join(temporaryDirectory(), 'nixl-otel.yaml');
  writeFileSync(file, text);
  return file;
}

describe('a flag without effect is refused:', () => {
  it.each([
    [['--console-file', '/tmp/x'], '--console-file needs the exporter console; the exporters are prometheus'],
    [['--otlp-endpoint', 'http://c:4318'], '--otlp-endpoint needs the exporter otlp'],
    [['--otlp-protocol', 'grpc'], '--otlp-protocol needs the exporter otlp'],
    [['--temporality', 'delta', '--exporter', 'console'], '--temporality needs the exporter otlp'],
    [['--histograms', 'exponential'], '--histograms needs the exporter otlp or console; the exporters are prometheus'],
    [['--export-interval', '1000'], '--export-interval needs an exporter that pushes'],
    [['--export-timeout', '1000'], '--export-timeout needs an exporter that pushes'],
    [['--exporter-dir', '/x', '--exporter', 'otlp,./own.mjs'], '--exporter-dir needs an exporter NAME that is neither'],
    [
      ['--page', 'on', '--exporter', 'otlp'],
      '--page needs the HTTP server: the exporter prometheus, or --host, --port',
    ],
    [['--standby', 'on', '--exporter', 'otlp'], '--standby needs the HTTP server on a port other than 0'],
    [['--standby', 'on', '--port', '0'], '--standby needs the HTTP server on a port other than 0'],
    [['--exporter', 'prometheus,none'], 'Allowed: none alone, or exporters without none'],
    [['--exporter', 'none', '--exporter', 'otlp'], 'Allowed: none alone, or exporters without none'],
  ])('%j', async (flags, message) => {
    const { code, stdout, stderr } = await runHere(['serve', '--dir', temporaryDirectory(), ...flags]);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it.each([
    [['--once', '--count', '3', '--dir', '/none'], '--once and --count exclude each other'],
    [['--all', '--url', 'http://127.0.0.1:1'], '--all and --url exclude each other'],
  ])('top %j', async (flags, message) => {
    const { code, stdout, stderr } = await runHere(['top', ...flags]);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('a missing folder of exporters', async () => {
    const flags = ['--exporter', 'yaml', '--exporter-dir', '/no/such'];
    const { code, stderr } = await runHere(['serve', '--dir', temporaryDirectory(), ...flags]);
    expect(stderr).toContain('the folder of exporters does not exist: /no/such');
    expect(code).toBe(1);
  });

  it('but a repeated flag adds to its list, if it has one', async () => {
    const flags = ['--exporter', 'prometheus', '--exporter', 'console,prometheus', '--port', '0'];
    const serve = start(['serve', '--dir', temporaryDirectory(), ...flags]);
    await serve.says(/exporters prometheus, console;/);
    expect((await serve.stop('SIGTERM')).code).toBe(0);
  });
});

describe('a key of the file without effect', () => {
  const TEXT = 'directories: /none\nserve:\n  exporter: prometheus\n  consoleFile: /tmp/x\n';

  it('is refused with its place, also by config check', async () => {
    const file = fileWith(TEXT);
    for (const args of [
      ['serve', '--config', file],
      ['config', 'check', file],
    ]) {
      const { code, stderr } = await runHere(args);
      expect(stderr).toContain(
        `${file}:4:3: serve.consoleFile needs the exporter console; the exporters are prometheus`,
      );
      expect(code).toBe(2);
    }
  });

  it('causes a warning if a flag or a variable replaces the exporters of the file', () => {
    const config = fileWith(TEXT.replace('prometheus', 'console'));
    const warnings = (flags: object, env: Record<string, string>): string[] => {
      const { resolution, file } = resolved({ config, ...flags }, env);
      return unusedSettings(resolution, file);
    };
    const expected = ['serve.consoleFile of the configuration file (needs the exporter console)'];
    expect(warnings({ exporter: ['otlp'] }, {})).toEqual(expected);
    expect(warnings({}, { OTEL_METRICS_EXPORTER: 'otlp' })).toEqual(expected);
    expect(warnings({}, {})).toEqual([]);
  });

  it('may be a default, as config print writes it', async () => {
    const { stdout } = await runHere(['config', 'print', fileWith('directories: /none\nbuilders: [nixl]')]);
    expect(stdout).toContain('otlpProtocol');
    expect(await runHere(['config', 'check', fileWith(stdout)])).toMatchObject({ code: 0 });
  });
});

describe('variables', () => {
  const unused = (environment: Record<string, string>, flags = {}): string[] => {
    const { resolution } = resolved(flags, environment);
    return [
      ...new Set([
        ...unusedSettings(resolution, undefined),
        ...unusedVariables(serveSettings(resolution), environment),
      ]),
    ].sort();
  };

  it.each<[Record<string, string>, string[]]>([
    [
      { OTEL_METRICS_EXEMPLAR_FILTER: 'always_on', OTEL_CONFIG_FILE: '/x' },
      ['OTEL_CONFIG_FILE', 'OTEL_METRICS_EXEMPLAR_FILTER'],
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPONT: 'http://c' }, ['OTEL_EXPORTER_OTLP_ENDPONT']],
    [{ NIXL_TELEMETRY_DIRECTORY: '/x', NIXL_OTEL_CONF: '/x' }, ['NIXL_OTEL_CONF', 'NIXL_TELEMETRY_DIRECTORY']],
    [
      { OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram' },
      ['OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION (needs the exporter otlp or console)'],
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, ['OTEL_EXPORTER_OTLP_ENDPOINT (needs the exporter otlp)']],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, ['OTEL_EXPORTER_OTLP_PROTOCOL (needs the exporter otlp)']],
    [
      { OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_INSECURE: 'true' },
      ['OTEL_EXPORTER_OTLP_INSECURE (needs --otlp-protocol grpc)'],
    ],
    [{ OTEL_METRIC_EXPORT_INTERVAL: '1000' }, ['OTEL_METRIC_EXPORT_INTERVAL (needs an exporter that pushes)']],
    [
      { OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_PROMETHEUS_PORT: '1' },
      [expect.stringMatching(/^OTEL_EXPORTER_PROMETHEUS_PORT \(needs the HTTP server/) as string],
    ],
    [
      { OTEL_METRICS_EXPORTER: 'otlp', NIXL_TELEMETRY_EXPORTER: 'console', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '/x' },
      ['NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH (needs the exporter console)'],
    ],
    [
      { NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '/x' },
      ['NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH (needs NIXL_TELEMETRY_EXPORTER)'],
    ],
    [
      { NIXL_TELEMETRY_EXPORTER_PLUGIN_DIR: '/x' },
      ['NIXL_TELEMETRY_EXPORTER_PLUGIN_DIR (needs an exporter NAME that is neither built in nor a path)'],
    ],
  ])('%j are named', (environment, names) => {
    expect(unused(environment)).toEqual(names);
  });

  it.each<[string, Record<string, string>]>([
    ['that are empty', { OTEL_CONFIG_FILE: '', NIXL_TELEMETRY_TYPO: ' ' }],
    ['of the agents', { NIXL_TELEMETRY_BUFFER_SIZE: '8192', NIXL_TELEMETRY_ENABLE: 'y', NIXL_LOG_LEVEL: 'x' }],
    [
      'of traces and logs',
      {
        OTEL_TRACES_SAMPLER: 'x',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'x',
        OTEL_BSP_SCHEDULE_DELAY: '1',
        OTEL_LOGS_EXPORTER: 'x',
        OTEL_PROPAGATORS: 'x',
      },
    ],
    [
      'of the operator of OpenTelemetry, its injector and its eBPF instrumentation',
      {
        OTEL_NODE_IP: '10.0.0.1',
        OTEL_POD_IP: '10.0.0.2',
        OTEL_RESOURCE_ATTRIBUTES_POD_NAME: 'x',
        OTEL_INJECTOR_CONFIG_FILE: '/x',
        OTEL_INJECTOR_K8S_POD_NAME: 'x',
        OTEL_EBPF_TRACE_PRINTER: 'x',
      },
    ],
    ['of other languages', { OTEL_PYTHON_LOG_CORRELATION: 'true', OTEL_INSTRUMENTATION_HTTP_ENABLED: 'x' }],
    [
      'that Kubernetes sets for a service',
      {
        OTEL_COLLECTOR_SERVICE_HOST: '10.0.0.1',
        OTEL_COLLECTOR_SERVICE_PORT: '4317',
        OTEL_COLLECTOR_SERVICE_PORT_OTLP: '4317',
        OTEL_COLLECTOR_PORT: 'tcp://10.0.0.1:4317',
        OTEL_COLLECTOR_PORT_4317_TCP: 'x',
        OTEL_COLLECTOR_PORT_4317_TCP_ADDR: 'x',
      },
    ],
    [
      'that are read',
      {
        OTEL_SERVICE_NAME: 'x',
        OTEL_RESOURCE_ATTRIBUTES: 'a=b',
        OTEL_LOG_LEVEL: 'info',
        NIXL_TELEMETRY_RANK_ENV: 'RANK',
        NIXL_TELEMETRY_ENABLED_METRICS: '*',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'a=b',
        OTEL_EXPORTER_OTLP_TIMEOUT: '1',
        OTEL_METRIC_EXPORT_TIMEOUT: '1',
        OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram',
      },
    ],
    [
      "that an exporter of one's own may read",
      {
        OTEL_METRICS_EXPORTER: './own.mjs',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
        OTEL_EXPORTER_OTLP_INSECURE: 'true',
        NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '/x',
        OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
      },
    ],
  ])('%s are not', (_, environment) => {
    expect(unused(environment)).toEqual([]);
  });

  it('are named in one line at start', async () => {
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0'], {
      OTEL_CONFIG_FIL: '/x',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
      NIXL_TELEMETRY_TYPO: '1',
      OTEL_SDK_DISABLED: '1',
    });
    await serve.says(/serves http/);
    const { stderr } = await serve.stop('SIGTERM');
    expect(stderr.split('\n').slice(0, 2)).toEqual([
      "nixl-otel: warning: OTEL_SDK_DISABLED is '1', which does not disable serve: by OpenTelemetry's specification only true does",
      'nixl-otel: warning: set, but not used by serve: NIXL_TELEMETRY_TYPO, OTEL_CONFIG_FIL, OTEL_EXPORTER_OTLP_ENDPOINT (needs the exporter otlp)',
    ]);
  });
});

it('OTEL_CONFIG_FILE ends serve, which does not read it, except where nothing is exported', async () => {
  const args = ['serve', '--dir', temporaryDirectory(), '--port', '0'];
  const { code, stderr } = await runHere(args, { OTEL_CONFIG_FILE: '/x.yaml' });
  expect(stderr).toMatch(/^nixl-otel: error: OTEL_CONFIG_FILE is "\/x\.yaml": serve does not read/);
  expect(code).toBe(2);
  expect((await runHere(args, { OTEL_CONFIG_FILE: '/x.yaml', OTEL_SDK_DISABLED: 'true' })).code).toBe(0);
});
