/** Precedence and origin of values, for library and serve. */
import { describe, expect, it } from 'vitest';
import { DURATION_METRICS, SELF_METRICS } from '../../src/instrumentation/self-metrics.js';
import { SERVE_METRICS } from '../../src/instrumentation/serve-metrics.js';
import { OPTION_ROWS } from '../../src/settings/option-rows.js';
import { OWN_METRICS } from '../../src/settings/reserved-names.js';
import { type Layers, resolve } from '../../src/settings/resolve.js';
import { ALL_SERVE_ROWS } from '../../src/settings/serve-rows.js';

const file = (written: object, serve: object = {}): NonNullable<Layers['file']> => ({
  path: '/c.yaml',
  folder: '/',
  written: { ...written },
  serve: { ...serve },
  where: () => '',
});

describe('a value', () => {
  const environment = { NIXL_TELEMETRY_RANK_ENV: 'RANK', NIXL_TELEMETRY_MP_STALE_TTL: '5' };
  const written = { rankVariable: 'FILE_RANK', deadTtlMs: 7 };

  it.each<[string, Layers, unknown]>([
    ['option', { givenBy: 'option', given: { rankVariable: 'X' }, environment, file: file(written) }, 'X'],
    ['NIXL_TELEMETRY_RANK_ENV', { givenBy: 'option', environment, file: file(written) }, 'RANK'],
    ['file', { givenBy: 'option', environment: { NIXL_TELEMETRY_RANK_ENV: '' }, file: file(written) }, 'FILE_RANK'],
    ['default', { givenBy: 'option', environment: {} }, 'LOCAL_RANK'],
  ])('comes from %s', (origin, layers, value) => {
    expect(resolve(OPTION_ROWS, layers).get('rankVariable')).toEqual({ value, origin });
  });

  it('comes from a variable of serve only in serve', () => {
    const ttl = (givenBy: Layers['givenBy']) => resolve(ALL_SERVE_ROWS, { givenBy, environment, file: file(written) });
    expect(ttl('flag').get('deadTtlMs')).toEqual({ value: 5000, origin: 'NIXL_TELEMETRY_MP_STALE_TTL' });
    expect(ttl('option').get('deadTtlMs')).toEqual({ value: 7, origin: 'file' });
  });

  it('of the section serve may be the text of its flag', () => {
    const serve = resolve(ALL_SERVE_ROWS, {
      givenBy: 'flag',
      environment: {},
      file: file({}, { port: '9090', exporter: 'otlp, console', host: '[::1]' }),
    });
    expect([serve.get('port'), serve.get('exporter'), serve.get('host')].map((one) => one?.value)).toEqual([
      9090,
      ['otlp', 'console'],
      '::1',
    ]);
  });
});

describe('places', () => {
  it.each<[Layers, string[]]>([
    [{ givenBy: 'option', given: { globs: '/g*' }, environment: { NIXL_TELEMETRY_DIR: '/d' } }, ['globs']],
    [{ givenBy: 'flag', environment: { NIXL_TELEMETRY_DIR: '/d' }, file: file({ globs: '/g*' }) }, ['directories']],
    [{ givenBy: 'flag', environment: {}, file: file({ globs: '/g*', directories: '/d' }) }, ['directories', 'globs']],
  ])('are those of the first layer that names any: %j', (layers, keys) => {
    const resolved = resolve(OPTION_ROWS, layers);
    expect(['directories', 'globs'].filter((key) => resolved.has(key))).toEqual(keys);
  });
});

it('metrics that belong to no agent are reserved under their kinds', () => {
  const ofServe = Object.values(SERVE_METRICS).flat();
  const tables = [...SELF_METRICS, ...ofServe, ...DURATION_METRICS].map(({ name, kind }) => [name, kind]);
  expect(OWN_METRICS).toEqual({ ...Object.fromEntries(tables), target_info: 'gauge' });
});
