import { AttributeRegistry, type CategoryTerm, EVENTS, EVERYTHING } from '../../src/mapping/index.js';
import os from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NixlTelemetryError } from '../../src/ground/errors.js';
import {
  checkReaderOptions,
  instrumentationSettings,
  producerSettings,
  warnOfNoEffect,
} from '../../src/settings/settings.js';
import { openSource } from '../../src/shm-bridge/index.js';

afterEach(() => vi.unstubAllEnvs());

function wrong(options: object): NixlTelemetryError {
  try {
    instrumentationSettings(options);
  } catch (error) {
    return error as NixlTelemetryError;
  }
  throw new Error(`accepted: ${JSON.stringify(options)}`);
}

describe('a wrong option', () => {
  it.each<[object, RegExp]>([
    [{ naming: 'prometheus' }, /naming is "prometheus"; allowed: "nixl" or "otel"/],
    [{ drainIntervalMs: 0 }, /drainIntervalMs is 0; allowed: a whole number of milliseconds, from 1 to 10000/],
    [{ drainIntervalMs: NaN }, /drainIntervalMs is NaN/],
    [{ drainIntervalMs: '20' }, /drainIntervalMs is "20"/],
    [{ deadTtlMs: -1 }, /deadTtlMs is -1/],
    [{ idleTtlMs: 0n }, /idleTtlMs is "0n"/],
    [{ directories: [] }, /directories is \[\]/],
    [{ directories: ['/a', ''] }, /directories is \["\/a",""\]/],
    [{ globs: 5 }, /globs is 5/],
    [{ builders: new Array(2).fill({ name: 'own', create() {} }) }, /builders\[1\] is own, which is listed twice/],
    [
      { customEvents: [{ event: 'e', kind: 'gauge', name: 'nixl.collector.lag.max' }] },
      /customEvents\[0\].name is nixl.collector.lag.max, which/,
    ],
    [{ builders: [] }, /builders is \[\]; allowed: a non-empty array/],
    [
      { builders: ['nixl', 'categories', 'events'] },
      /builders\[2\] is events, which counts the same events as categories: name one of the two/,
    ],
    [{ series: 'most' }, /series is "most"; allowed: one of "nixl", "standard", "full"/],
    [
      { series: 'standard', builders: ['nixl'] },
      /series is "standard", but builders is set as well, and each of them chooses all metrics: set only one of the two/,
    ],
    [
      { series: 'nixl', customEvents: [{ event: 'e', kind: 'gauge', name: 'g' }] },
      /customEvents needs the builder custom, and series nixl has only nixl/,
    ],
    [{ series: 'nixl', sizeBounds: [1] }, /sizeBounds needs the builder transfers, and series nixl has only nixl/],
    [
      { builders: ['nixl'], customEvents: [{ event: 'e', kind: 'gauge', name: 'a' }] },
      /customEvents needs the builder custom, and builders has only nixl/,
    ],
    [{ builders: ['nixl', 'time'], sizeBounds: [1] }, /sizeBounds needs the builder transfers/],
    [{ builders: ['events'], histogramBounds: { agent_xfer_time: [1] } }, /needs the builder nixl or durations/],
    [{ rankVariable: '=x' }, /rankVariable is "=x"; allowed: the name of an environment variable, without =/],
    [{ attributes: [{ name: 'a', source: { agentEnv: 'A=' } }] }, /attributes\[0\].source.agentEnv is "A="/],
    [{ globs: '/a/*/b' }, /globs is "\/a\/\*\/b"; allowed: a path with \* and \? in its last part only/],
    [{ globs: ['/a/b*', '/[ab]/c'] }, /globs is \["\/a\/b\*","\/\[ab\]\/c"\]/],
    [{ drainIntervalMs: 2.5 }, /drainIntervalMs is 2.5; allowed: a whole number/],
    [{ deadTtlMs: 0.5 }, /deadTtlMs is 0.5/],
    [{ deadTtlMs: 2 ** 41 }, /deadTtlMs is 2199023255552; allowed: .* 0 to 1099511627776/],
    [{ idleTtlMs: 1.5 }, /idleTtlMs is 1.5/],
    [{ idleTtlMs: 2 ** 41 }, /idleTtlMs is 2199023255552/],
    [{ hostname: '' }, /hostname is ""/],
    [{ force: 'yes' }, /force is "yes"; allowed: true or false/],
    [{ durationBoundsUs: [1, 1] }, /durationBoundsUs is \[1,1\]; allowed: 1 to 256 positive, strictly increasing/],
    [{ durationBoundsUs: [0, 1] }, /durationBoundsUs/],
    [{ sizeBounds: [1, Infinity] }, /sizeBounds/],
    [{ throughputBounds: () => [1] }, /throughputBounds is a function/],
    [{ durationBudgetMs: 0 }, /durationBudgetMs is 0; allowed: a number of milliseconds per second, from 1 to 1000/],
    [{ durationBudgetMs: 1001 }, /durationBudgetMs is 1001; allowed/],
    [{ seriesLimit: 2000 }, /seriesLimit is 2000; allowed: a whole number, from 20 to 1900/],
    [{ enabled: 'true' }, /enabled is "true"/],
    [{ attributes: {} }, /attributes is \{\}; allowed: an array/],
    [{ attributes: [{ name: 'a' }] }, /attributes\[0\] has no "source"; it needs name, source/],
    [{ attributes: [{ name: '9', source: 'agent' }] }, /attributes\[0\].name is "9"; allowed: letters/],
    [
      { attributes: [{ name: 'hostname', source: 'agent' }] },
      /attributes\[0\].name is hostname, which is a label of the metrics/,
    ],
    [{ attributes: [{ name: 'a', source: 'agnet' }] }, /attributes\[0\].source is "agnet"; allowed: one of "agent", /],
    [{ attributes: [{ name: 'a', source: { env: '' } }] }, /attributes\[0\].source.env is ""/],
    [{ attributes: [{ name: 'a', source: { env: 'A', x: 1 } }] }, /attributes\[0\].source.x is unknown; there are env/],
    [
      { attributes: [{ name: 'a', source: { pattern: '(?<role>a)', group: 'rank' } }] },
      /attributes\[0\].source has no group rank in its pattern; there are role/,
    ],
    [
      { attributes: [{ name: 'a', source: { pattern: '(', group: 'rank' } }] },
      /attributes\[0\].source has a pattern that is no regular expression/,
    ],
    [{ attributes: [{ name: 'a', source: 'pid', type: 'int' }] }, /attributes\[0\].type is "int"; allowed: one of/],
    [
      {
        attributes: [
          { name: 'a', source: 'pid' },
          { name: 'a', source: 'agent' },
        ],
      },
      /attributes\[1\].name is a, which is the name of attributes\[0\]/,
    ],
    [
      {
        attributes: [
          { name: 'a.b', source: 'pid' },
          { name: 'b', source: 'pid' },
          { name: 'a_b', source: 'agent' },
        ],
      },
      /attributes\[2\].name is a_b, which is spelled in Prometheus like a.b, the name of attributes\[0\]/,
    ],
    [{ attributes: ['docker'] }, /attributes\[0\] is "docker"; allowed: one of "kubernetes"/],
    [
      { attributes: 'kubernetes' },
      /attributes is "kubernetes"; allowed: an array, each of it .* or the word one of "kub/,
    ],
    [
      { attributes: [{ name: 'k8s_pod_uid', source: 'pod_uid' }, 'kubernetes'] },
      /attributes\[1\] is kubernetes, whose attribute is k8s.pod.uid, which is spelled in Prometheus like k8s_pod_uid, the/,
    ],
    [
      { attributes: ['kubernetes', { name: 'container.id', source: 'container_id' }] },
      /attributes\[1\].name is container.id, which is the name of attributes\[0\]/,
    ],
    [
      { attributes: ['kubernetes', 'kubernetes'] },
      /attributes\[1\] is kubernetes, whose attribute is container.id, which/,
    ],
    [{ attributes: [{ name: 'a', source: { podEnv: 'A=' } }] }, /attributes\[0\].source.podEnv is "A="/],
    ...['agent.name', 'agent__name', 'nixl_agent_name', 'error_type', 'otel.scope.name'].map(
      (name): [object, RegExp] => [
        { attributes: [{ name, source: 'agent' }] },
        new RegExp(
          `attributes\\[0\\].name is ${name}, which is spelled like [a-z._]+ in Prometheus, which is a label of the metrics`,
        ),
      ],
    ),
    ...['le', 'quantile'].map((name): [object, RegExp] => [
      { attributes: [{ name, source: 'agent' }] },
      new RegExp(`attributes\\[0\\].name is ${name}, which is a label of the metrics`),
    ]),
  ])('%o is refused with its name, its value and what is allowed', (options, message) => {
    const error = wrong(options);
    expect(error).toBeInstanceOf(NixlTelemetryError);
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toMatch(message);
  });

  it('may be cyclic', () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(wrong({ directories: cyclic }).message).toMatch(/directories is an object that is cyclic or cannot be read/);
  });

  it('is shown shortened', () => {
    expect(wrong({ hostname: ['x'.repeat(1000)] }).message.length).toBeLessThan(200);
  });

  it('may be a name that does not exist', () => {
    expect(wrong({ directory: '/d' }).message).toMatch(/unknown option "directory"; there are .*directories/);
    expect(wrong({ temporality: 'delta' }).message).toMatch(/unknown option "temporality"/);
    expect(wrong({ histograms: 'explicit' }).message).toMatch(/unknown option "histograms"/);
    expect(() => checkReaderOptions({ histograms: 'summary' })).toThrow(
      'histograms is "summary"; allowed: "explicit", "exponential" or a function from instrument type to aggregation',
    );
    expect(() => checkReaderOptions({ directories: '/d' })).toThrow(/unknown option "directories"/);
    expect(wrong([]).message).toMatch(/options must be an object/);
  });
});

describe('a variable', () => {
  it.each([
    ['NIXL_TELEMETRY_RANK_ENV', '=x', /NIXL_TELEMETRY_RANK_ENV is "=x"; allowed: the name of an environment variable/],
    ['NIXL_TELEMETRY_ENABLED_METRICS', '!', /NIXL_TELEMETRY_ENABLED_METRICS has a ! without a name to exclude/],
  ])('%s=%s is refused by its name', (variable, value, message) => {
    vi.stubEnv(variable, value);
    expect(() => instrumentationSettings({})).toThrow(message);
  });
});

describe('globs of declared events', () => {
  const warnings = (event: string, category?: CategoryTerm): string[] => {
    const said: string[] = [];
    const customEvents = [
      { event, kind: 'counter', name: 'a', ...(category === undefined ? {} : { category }) } as const,
    ];
    warnOfNoEffect(instrumentationSettings({ customEvents }), { warn: (text) => said.push(text) });
    return said;
  };

  it("cause a warning if they match NIXL's own events, which they do not count", () => {
    expect(warnings('agent_?x_bytes')).toEqual([
      "customEvents[0].event agent_?x_bytes does not count agent_tx_bytes, agent_rx_bytes: they are NIXL's own events",
    ]);
    expect(warnings('*_BACKEND')).toEqual([expect.stringContaining('NIXL_ERR_BACKEND')]);
  });

  it('cause no warning if they match only other events', () => {
    expect([warnings('*'), warnings('retry_*'), warnings('*_bytes', 'BACKEND')]).toEqual([[], [], []]);
  });
});

describe('settings', () => {
  it('have defaults', () => {
    vi.stubEnv('NIXL_TELEMETRY_DIR', '');
    expect(instrumentationSettings({})).toEqual({
      naming: 'nixl',
      nixlRelease: 'main',
      nixlLabels: 'prometheus',
      hostname: os.hostname(),
      events: EVERYTHING,
      attributes: new AttributeRegistry(),
      rankVariable: 'LOCAL_RANK',
      customEvents: [],
      builders: ['nixl', 'transfers', 'models', 'categories', 'custom', 'agents', 'records'],
      hasOwnMetrics: true,
      seriesLimit: 1900,
      durationBudgetMs: 10,
      source: undefined,
    });
  });

  it('treat undefined as not given', () => {
    const { source } = producerSettings({ directories: '/d', deadTtlMs: undefined } as never);
    expect(source.deadTtlMs).toBe(30_000);
  });

  it('take the directory from the environment unless an option names a place of rings', () => {
    vi.stubEnv('NIXL_TELEMETRY_DIR', '/env');
    expect(producerSettings({}).source.directories).toEqual(['/env']);
    expect(producerSettings({ directories: '/own' }).source.directories).toEqual(['/own']);
    expect(producerSettings({ globs: '/x/*' }).source).toMatchObject({ globs: ['/x/*'] });
    expect(producerSettings({ globs: '/x/*' }).source.directories).toBeUndefined();
  });

  it.each([
    { globs: 'ring*' },
    { globs: '/a/ring-?' },
    { globs: ['/a/*/', '/b/[c'] },
    { drainIntervalMs: 10_000 },
    { deadTtlMs: 2 ** 40, idleTtlMs: 2 ** 40 },
  ])('that a source is opened with: %o', (options) => {
    openSource(producerSettings({ directories: '/none', ...options }).source).close();
  });

  it('pass the rest on to the source', () => {
    const { source } = producerSettings({
      directories: ['/a', '/b'],
      drainIntervalMs: 5,
      deadTtlMs: 0,
      idleTtlMs: 60_000,
      force: true,
      sizeBounds: [1, 2],
    });
    expect(source).toMatchObject({
      directories: ['/a', '/b'],
      drainIntervalMs: 5,
      deadTtlMs: 0,
      idleTtlMs: 60_000,
      force: true,
    });
    expect(source.tally.sizeBounds).toEqual([1, 2]);
    expect(source.tally.types).toHaveLength(EVENTS.length);
  });
});
