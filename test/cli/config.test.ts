/** Configuration files: their values, mistakes with their places, and the precedence of values. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/mapping/events.js';
import { parse } from 'yaml';
import { NixlMetricProducer } from '../../src/index.js';
import { RingWriter } from '../../src/rings.js';
import { effectiveConfig } from '../../src/cli/config/command.js';
import { buildersOf, fileShape, readSettings } from '../../src/settings/file.js';
import { SERVE_SECTION } from '../../src/settings/serve-rows.js';
import { producerSettings } from '../../src/settings/settings.js';
import { pointsIn } from '../instrumentation/readers.js';
import { allDrained } from '../support/live.js';
import { MAIN, ROOT, RunningCommand, scrape, start, temporaryDirectory, until } from './command.js';
import { runHere } from './in-process.js';
import { settingsOf } from './serve-settings.js';

function fileWith(text: string, name = 'nixl-otel.yaml'): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, text);
  return file;
}

const GOOD = `
# everything at once
directories: [/a, /b]
naming: otel
drainIntervalMs: 5
enabledMetrics: ['agent_tx_*', '!agent_err_*']
attributes:
  - name: role
    source: { pattern: '(?<role>prefill|decode)', group: role }
    default: other
  - { name: rank, source: local_rank, type: integer, order: 1 }
builders: [nixl, time, custom]
customEvents:
  - { event: queue_depth, kind: gauge, name: backend.queue.depth }
  - { event: 77, category: CUSTOM, kind: histogram, name: { nixl: a, otel: b }, bounds: [1, 2] }
histogramBounds: { agent_xfer_time: [50, 100.5] }
serve:
  exporter: [prometheus, otlp]
  port: 9090
  otlpProtocol: grpc
  page: 'off'
`;

const WRONG: [string, string][] = [
  ['naming: prometheus', `1:1: naming is "prometheus"; allowed: "nixl" or "otel"`],
  ['naming: nixl\ndirectory: /a', '2:1: directory is unknown; there are $schema, directories, '],
  ['attributes:\n  - name: a\n    source: agnet', '3:5: attributes[0].source is "agnet"; allowed: one of "agent"'],
  ['attributes:\n  - name: a\n  - name: b', '2:5: attributes[0] has no "source"; it needs name, source'],
  ['builders: [nixl, tmie]', '1:18: builders[1] is "tmie"; allowed: one of "nixl"'],
  [
    'customEvents:\n  - { event: 5, kind: gauge, name: a }',
    '2:7: customEvents[0].event is 5; allowed: a name or a glob',
  ],
  [
    'customEvents:\n  - { event: e, kind: gauge, name: a, bounds: [1] }',
    '2:39: customEvents[0].bounds is given, but kind is gauge; only a histogram has bounds',
  ],
  [
    'histogramBounds: { agent_tx_bytes: [1] }',
    '1:20: histogramBounds.agent_tx_bytes is unknown; there are agent_xfer_time',
  ],
  ['builders: [nixl, time, nixl]', '1:24: builders[2] is nixl, which is listed twice'],
  ['builders: [./a.mjs, nixl, ./a.mjs]', '1:27: builders[2] is ./a.mjs, which is listed twice'],
  [
    'customEvents:\n  - { event: e, kind: gauge, name: agent_xfer_time }',
    '2:30: customEvents[0].name is agent_xfer_time, which another metric has',
  ],
  [
    'customEvents:\n  - { event: e, kind: gauge, name: { nixl: own, otel: nixl.transfer.io } }',
    '2:49: customEvents[0].name.otel is nixl.transfer.io, which another metric has',
  ],
  [
    'customEvents:\n  - { event: e, kind: counter, name: agent_rx_bytes }',
    '2:32: customEvents[0].name is agent_rx_bytes, which another metric has', // in release 1.0
  ],
  [
    'customEvents:\n  - { event: e, kind: counter, name: agent_errors }',
    '2:32: customEvents[0].name is agent_errors, which in Prometheus shares the name agent_errors_total with agent_errors_total, which another metric has: to count in it, give the event kind "error" and a status',
  ],
  ...['count', 'sum', 'bucket'].map((end): [string, string] => [
    `customEvents:\n  - { event: e, kind: gauge, name: agent.xfer.time.us.${end} }`,
    `2:30: customEvents[0].name is agent.xfer.time.us.${end}, which in Prometheus shares the name agent_xfer_time_us_${end} with agent_xfer_time_us, which another metric has`,
  ]),
  [
    'customEvents:\n  - { event: e, kind: gauge, name: target.info }',
    '2:30: customEvents[0].name is target.info, which in Prometheus shares the name target_info with target_info, which another metric has',
  ],
  [
    'customEvents:\n  - { event: e, kind: counter, name: my.event }\n  - { event: f, kind: gauge, name: my_event_total }',
    '3:30: customEvents[1].name is my_event_total, which in Prometheus shares the name my_event_total with my.event of customEvents[0]',
  ],
  [
    'customEvents:\n  - { event: e, kind: counter, name: a }\n  - { event: f, kind: gauge, name: { nixl: b, otel: a } }',
    '3:47: customEvents[1].name.otel is a, which is the name of customEvents[0] already',
  ],
  [
    'customEvents:\n  - { event: e, kind: gauge, name: { nixl: c, otel: h_sum } }\n  - { event: f, kind: histogram, name: h }',
    '3:34: customEvents[1].name is h, which in Prometheus shares the name h_sum with h_sum of customEvents[0]',
  ],
  ...['1.4', '1.0'].map((release): [string, string] => [
    `naming: nixl\nnixlRelease: ${release}`,
    `2:1: nixlRelease is the number ${Number(release)}; allowed: a string, so put it in quotes: one of "1.0", "1.2", "1.3", "1.4", "main"`,
  ]),
  ["nixlRelease: '1.1'", '1:1: nixlRelease is "1.1"; allowed: one of "1.0", "1.2", "1.3", "1.4", "main"'],
  ['nixlLabels: mp', '1:1: nixlLabels is "mp"; allowed: "prometheus" or "prometheus_mp"'],
  [
    'customEvents:\n  - { event: 77, kind: error }',
    '2:5: customEvents[0] has no "status"; it needs event, kind, status',
  ],
  [
    'customEvents:\n  - { event: 77, kind: error, status: x, name: y }',
    '2:42: customEvents[0].name is unknown; there are event, kind, status',
  ],
  [
    'customEvents:\n  - { event: 77, kind: error, status: Not Posted }',
    '2:31: customEvents[0].status is "Not Posted"; allowed: a lower-case letter, then',
  ],
  [
    'customEvents:\n  - { event: 8, kind: error, status: x }',
    `2:7: customEvents[0].event is 8; allowed: a name without * and ?, or a type number from ${EVENTS.length} to`,
  ],
  [
    "customEvents:\n  - { event: 'stalled_*', kind: error, status: x }",
    '2:7: customEvents[0].event is "stalled_*"; allowed: a name without * and ?, or',
  ],
  [
    'customEvents:\n  - { event: 77, kind: error, status: backend }',
    '2:31: customEvents[0].status is backend, which is a status of NIXL itself',
  ],
  [
    'customEvents:\n  - { event: NIXL_ERR_BACKEND, kind: error, status: x }',
    '2:7: customEvents[0].event is NIXL_ERR_BACKEND, an event of NIXL, which already has metrics',
  ],
  [
    'customEvents:\n  - { event: agent_err_y, kind: error, status: x }\n  - { event: 77, kind: error, status: y }',
    '3:31: customEvents[1].status is y, which customEvents[0] counts already',
  ],
  [
    'customEvents:\n  - { event: 77, kind: error, status: x }\n  - { event: 77, kind: error, status: y }',
    '3:7: customEvents[1].event is 77, which customEvents[0] counts already',
  ],
  [
    'customEvents:\n  - { event: 77, kind: error, status: x }\n  - { event: 78, kind: error, status: x }',
    '3:31: customEvents[1].status is x, which customEvents[0] counts already',
  ],
  [
    'customEvents:\n  - { event: 77, kind: errors, status: x }',
    '2:5: customEvents[0] has no "name"; it needs event, kind, name',
  ],
  ...['agent_tx_bytes', 'agent_err_backend', 'NIXL_ERR_BACKEND'].map((event): [string, string] => [
    `customEvents:\n  - { event: ${event}, kind: gauge, name: a }`,
    `2:7: customEvents[0].event is ${event}, an event of NIXL, which already has metrics`,
  ]),
  [
    "customEvents:\n  - { kind: gauge, name: a, event: '77' }",
    '2:29: customEvents[0].event is the text "77"; allowed: a type number without quotes',
  ],
  [
    'customEvents:\n  - { event: type_77, kind: gauge, name: a }',
    '2:7: customEvents[0].event is type_77, the label of an event without a name; allowed: 77',
  ],
  [
    `customEvents:\n  - { event: ${'x'.repeat(33)}, kind: gauge, name: a }`,
    `2:7: customEvents[0].event is ${'x'.repeat(33)}, which is longer than the 32 bytes`,
  ],
  ['builders: []', '1:1: builders is []; allowed: a non-empty array'],
  ["enabledMetrics: 'agent_*,!'", '1:1: enabledMetrics has a ! without a name to exclude'],
  ["enabledMetrics: ' ,'", '1:1: enabledMetrics names no event'],
  ['rankVariable: A=B', '1:1: rankVariable is "A=B"; allowed: the name of an environment variable, without ='],
  ...[
    ['', '5', 'string: a text'],
    [' type: text,', 'true', 'text: a text'],
    [' type: boolean,', 'yes', 'boolean: true or false'],
    [' type: integer,', '1.5', 'integer: a whole number'],
    [' type: list,', 'a', 'list: an array of texts'],
  ].map(([type, usual, allowed]): [string, string] => [
    `attributes:\n  - { name: a, source: pid,${type} default: ${usual} }`,
    `2:${29 + type!.length}: attributes[0].default is ${usual === 'yes' || usual === 'a' ? `"${usual}"` : usual}; allowed with type ${allowed}`,
  ]),
  [
    'attributes:\n  - { name: a, source: { constant: x }, type: integer }',
    '2:26: attributes[0].source.constant is "x", which has no value of type integer',
  ],
  [
    'attributes:\n  - { name: a.b, source: pid }\n  - { name: a_b, source: agent }',
    '3:7: attributes[1].name is a_b, which is spelled in Prometheus like a.b, the name of attributes[0]',
  ],
  ['serve: { host: 5 }', '1:10: serve.host is 5; allowed: an address'],
  ['serve: { host: [h] }', '1:10: serve.host is ["h"]; allowed: an address'],
  ["serve: { port: ['9464'] }", '1:10: serve.port is ["9464"]; allowed: a whole number, from 0 to 65535'],
  ["serve: { host: '[::2' }", '1:10: serve.host is "[::2"; allowed: an address or a host name'],
  ['serve: { exporter: [prometheus, none] }', '1:10: serve.exporter is ["prometheus","none"]; allowed: none alone'],
  ['serve:\n  port: 70000', '2:3: serve.port is 70000; allowed: a whole number, from 0 to 65535'],
  ['serve:\n  dir: /a', '2:3: serve.dir is unknown; there are exporter, '],
  ['serve:\n  state: maybe', '2:3: serve.state is "maybe"; allowed: "on" or "off"'],
  ['serve:\n  page: maybe', '2:3: serve.page is "maybe"; allowed: "on" or "off"'],
  ['- a', '1:1: the file is ["a"]; allowed: an object with '],
];

describe('a configuration file', () => {
  it('sets every option', () => {
    const { written, serve } = readSettings(fileWith(GOOD), SERVE_SECTION);
    expect(written).toMatchObject({
      directories: ['/a', '/b'],
      naming: 'otel',
      histogramBounds: { agent_xfer_time: [50, 100.5] },
    });
    expect(serve).toEqual({ exporter: ['prometheus', 'otlp'], port: 9090, otlpProtocol: 'grpc', page: 'off' });
  });

  it('may be JSON, and may be empty', () => {
    expect(readSettings(fileWith('{"naming": "otel"}', 'c.json')).written).toEqual({ naming: 'otel' });
    expect(readSettings(fileWith('')).written).toEqual({});
  });

  it.each(WRONG)('that says %j is refused with file, line and key', (text, message) => {
    const file = fileWith(text);
    expect(() => readSettings(file, SERVE_SECTION)).toThrow(`${file}:${message}`);
  });

  it('may name a metric alike in both namings', () => {
    const file = fileWith('customEvents: [{ event: e, kind: counter, name: { nixl: own_events, otel: own.events } }]');
    expect(() => readSettings(file)).not.toThrow();
  });

  it('is refused with all its mistakes, a line each', () => {
    const file = fileWith(
      'naming: x\nattributes:\n  - { name: a }\n  - { source: rank, sort: 1 }\nserve: { port: x, page: 1 }',
    );
    const message = (() => {
      try {
        readSettings(file, SERVE_SECTION);
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    })();
    expect(message.split('\n').map((line) => line.replace(/(; |allowed: ).*/, ''))).toEqual([
      `${file}:1:1: naming is "x"`,
      `${file}:3:5: attributes[0] has no "source"`,
      `${file}:4:5: attributes[1] has no "name"`,
      `${file}:4:7: attributes[1].source is "rank"`,
      `${file}:4:21: attributes[1].sort is unknown`,
      `${file}:5:10: serve.port is "x"`,
      `${file}:5:19: serve.page is 1`,
    ]);
  });

  it.each([
    ['a: [', /:1:\d+: /],
    ['naming: nixl\nnaming: otel', /:2:1: Map keys must be unique/],
    ['naming: !from-vault otel', /:1:9: Unresolved tag: !from-vault/],
  ])('that is no YAML, as %j, is refused with its line', (text, message) => {
    expect(() => readSettings(fileWith(text))).toThrow(message);
  });

  it('with aliases without an anchor is refused with each of them, and a hint to quote text', () => {
    const file = fileWith('enabledMetrics: *bytes\nglobs: [*b]\nhostname: &b x');
    const hint = (name: string): string =>
      `*${name} is an alias in YAML, and the file has no anchor &${name}; text that begins with * needs quotes: '*${name}'`;
    expect(() => readSettings(file)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `${file}:1:17: ${hint('bytes')}\n${file}:2:9: ${hint('b')}`,
      }),
    );
    expect(readSettings(fileWith('globs: &b [/a]\nenabledMetrics: *b')).written['enabledMetrics']).toEqual(['/a']);
  });

  it('with cyclic aliases is refused with each of them', () => {
    const file = fileWith('directories: &a [*a]\nserve: &s\n  exporter: [&x x, *x]\n  port: *s');
    const message = (name: string): string =>
      `*${name} is an alias inside of its own anchor &${name}: the value would never end`;
    expect(() => readSettings(file, SERVE_SECTION)).toThrow(
      `${file}:1:18: ${message('a')}\n${file}:4:9: ${message('s')}`,
    );
  });

  it('with aliases that expand too far is refused', () => {
    const rows = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [i, name] of [...'bcdefgh'].entries()) {
      rows.push(`${name}: &${name} [${new Array(9).fill(`*${'abcdefg'[i]}`).join(',')}]`);
    }
    const file = fileWith(rows.join('\n'));
    expect(() => readSettings(file)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `${file}: Excessive alias count indicates a resource exhaustion attack`,
      }),
    );
  });

  it.each<[string, string]>([
    ['{\n  "naming": "nixl",\n}', '3:1: not JSON: expected a key; a comma before a closing bracket is not allowed'],
    ['{\n  // why\n}', '2:3: not JSON: expected a key, in double quotes; comments are allowed in YAML only'],
    ['{ "naming": "nixl",\n  "naming": "otel" }', '2:3: the object has the key "naming" twice'],
    ['{\n  "serve": {\n    "port": -1 } }', '3:5: serve.port is -1; allowed: a whole number, from 0 to 65535'],
    ['{"builders":\n ["nixl",\n "nixl"]}', '3:2: builders[1] is nixl, which is listed twice'],
    ['naming: nixl', '1:1: not JSON: expected a value'],
    ['', '1:1: not JSON: the file ends here'],
  ])('with the name of JSON is JSON: %j is refused', (text, message) => {
    for (const name of ['c.json', 'c.JSON']) {
      const file = fileWith(text, name);
      expect(() => readSettings(file, SERVE_SECTION)).toThrow(`${file}:${message}`);
    }
  });

  it('may begin with a byte order mark', () => {
    for (const name of ['c.json', 'c.yaml']) {
      expect(readSettings(fileWith('\uFEFF{"naming": "otel"}', name)).written).toEqual({ naming: 'otel' });
      const wrong = fileWith('\uFEFF{"naming": "x"}', name);
      expect(() => readSettings(wrong)).toThrow(`${wrong}:1:2: naming is "x"`);
    }
  });

  it('is refused with the place of an option that no builder uses', () => {
    const file = fileWith('hostname: h\ncustomEvents: [{ event: e, kind: gauge, name: a }]\nbuilders: [nixl]');
    expect(() => new NixlMetricProducer({ directories: '/none', configFile: file })).toThrow(
      `${file}:2:1: customEvents needs the builder custom, and builders has only nixl`,
    );
  });

  it('is refused with the place of bounds that no builder uses, unless a variable sets them', () => {
    const open = (text: string, environment = {}) =>
      producerSettings({ directories: '/none', configFile: fileWith(text) }, environment);
    const bounds = 'durationBoundsUs: [1, 2]\n';
    expect(() => open(`${bounds}builders: [agents, time]`)).toThrow(
      '1:1: durationBoundsUs needs the builder nixl or durations or events or categories or custom, and builders has only agents, time',
    );
    for (const builder of ['nixl', 'durations', 'events', 'categories', 'custom'])
      open(`${bounds}builders: [${builder}]`);
    open('builders: [agents]', { NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US: '1,2' });
  });

  it('is refused with the place of a module that does not exist', async () => {
    const file = fileWith('builders:\n  - nixl\n  - ./gone.mjs\nserve: { exporter: [console, ./gone-too.mjs] }');
    expect(() => buildersOf(readSettings(file))).toThrow(
      new RegExp(`^${file}:3:5: builders\\[1\\]: builder ${path.dirname(file)}/gone.mjs cannot be loaded`),
    );
    const exporters = fileWith('directories: /none\nserve:\n  exporter:\n    - console\n    - ./gone-too.mjs');
    for (const args of [
      ['config', 'check', exporters],
      ['serve', '--config', exporters],
    ]) {
      const { code, stderr } = await runHere(args);
      expect(stderr).toContain(
        `${exporters}:5:7: serve.exporter[1]: there is no exporter ${path.dirname(exporters)}/gone-too.mjs;`,
      );
      expect(code).toBe(1);
    }
  });

  it('that does not exist is refused by its name', () => {
    expect(() => readSettings('/no/such.yaml')).toThrow("ENOENT: no such file or directory, open '/no/such.yaml'");
  });

  it('has paths relative to its folder; those of flags and variables are relative to the working directory', () => {
    const file = fileWith(`
directories: [rings, /dev/shm/../nixl]
globs: other/*
builders: [nixl, ./own.mjs]
serve: { exporter: 'console,./mine.mjs,package', exporterDir: ., consoleFile: ../out.json, webConfig: web.yml }`);
    const folder = path.dirname(file);
    writeFileSync(path.join(folder, 'own.mjs'), 'export default { name: "own", create() {} }');
    const inFolder = (name: string): string => path.join(folder, name);
    const { serve, ...others } = parse(effectiveConfig(file, {})) as Record<string, unknown>;
    expect(others).toMatchObject({
      directories: [inFolder('rings'), '/dev/shm/../nixl'],
      globs: [inFolder('other/*')],
      builders: ['nixl', inFolder('own.mjs')],
    });
    expect(serve).toMatchObject({
      exporter: ['console', inFolder('mine.mjs'), 'package'],
      exporterDir: folder,
      consoleFile: path.join(path.dirname(folder), 'out.json'),
      webConfig: inFolder('web.yml'),
    });
    const { webConfig } = settingsOf({ config: file, webConfig: 'web.yml' }, {});
    expect(webConfig).toBe('web.yml');
    expect(settingsOf({ config: file }, { NIXL_TELEMETRY_DIR: 'rings' }).dir).toEqual(['rings']);
  });

  it('has its web configuration beside it, in config check and in serve', async () => {
    const file = fileWith("directories: /none\nserve: { listen: '127.0.0.1:0', webConfig: web.yml }");
    const web = path.join(path.dirname(file), 'web.yml');
    writeFileSync(web, 'basic_auth_users: []');
    for (const args of [
      ['config', 'check', file],
      ['serve', '--config', file],
    ]) {
      expect((await runHere(args)).stderr).toContain(`${web}:1:1: basic_auth_users is no object with users`);
    }
  });

  it('may name builders by their modules, beside it', () => {
    const file = fileWith('builders: [nixl, ./own.mjs]');
    writeFileSync(path.join(path.dirname(file), 'own.mjs'), 'export default class { name = "own"; create() {} }');
    expect(buildersOf(readSettings(file))).toMatchObject(['nixl', { name: 'own' }]);
    writeFileSync(path.join(path.dirname(file), 'own.cjs'), 'module.exports = { name: 1 };');
    const other = path.join(path.dirname(file), 'other.yaml');
    writeFileSync(other, 'builders: [nixl, ./own.mjs, ./own.cjs]');
    expect(() => buildersOf(readSettings(other))).toThrow(/builder .*own.cjs is not a builder; export default/);
  });
});

describe('the published schema', () => {
  const published: unknown = JSON.parse(readFileSync(path.join(ROOT, 'config.schema.json'), 'utf8'));
  const validate = new Ajv({ strict: false }).compile(published as object);

  it('agrees with the checks', () => {
    expect(validate(parse(GOOD))).toBe(true);
    const onlyInCode =
      /event of NIXL|without quotes|the label of|32 bytes|enabledMetrics|allowed with type|no value of type|host name|none alone|only a histogram has bounds|serve\.port|twice|which in Prometheus|which another metric has|the name of|a status of NIXL|counts already/;
    for (const [text, message] of WRONG) {
      if (onlyInCode.test(message)) continue;
      expect(validate(parse(text)), text).toBe(false);
    }
    expect(fileShape(SERVE_SECTION).problems(parse(GOOD))).toEqual([]);
  });
});

describe('precedence', () => {
  it('is option, environment, file, default', async () => {
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'a'), { wireVersion: 4 });
    const file = fileWith(
      'durationBoundsUs: [1, 2]\nhistogramBounds: { agent_xfer_post_time: [7] }\nhostname: from-file',
    );
    const env = process.env;
    process.env = { ...env, NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US: '3,4', NIXL_OTEL_CONFIG: file };
    try {
      const bounds = async (options: object): Promise<unknown[]> => {
        for (const type of [7, 6]) writer.push({ type, value: 5 });
        const producer = new NixlMetricProducer({ directories: directory, ...options });
        await allDrained(directory);
        const result = await producer.collect();
        producer.close();
        return ['agent_xfer_time_us', 'agent_xfer_post_time_us'].map(
          (name) => (pointsIn(result, name)[0]?.value as { buckets: { boundaries: number[] } }).buckets.boundaries,
        );
      };
      expect(await bounds({ durationBoundsUs: [5, 6] })).toEqual([[5, 6], [7]]);
      expect(await bounds({})).toEqual([[3, 4], [7]]);
      delete process.env['NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US'];
      expect(await bounds({})).toEqual([[1, 2], [7]]);
      expect(await bounds({ configFile: fileWith('hostname: x') })).not.toContainEqual([7]);
    } finally {
      process.env = env;
    }
  });

  it('is the same in serve, with the section serve', async () => {
    const directory = temporaryDirectory();
    const file = fileWith(`directories: ${directory}\nnaming: otel\ndeadTtlMs: 1234\nserve: { port: 0, page: 'off' }`);
    const serve = start(['serve', '--config', file, '--dead-ttl', '4321']);
    const [line, url] = await serve.says(/serves (http:\S+) from .*/);
    expect(line).toContain(`${directory} (exporters prometheus; naming otel;`);
    expect(line).toContain('dead agents stay 4.321 s');
    expect(await scrape(url!)).toContain('nixl_collector_ticks');
    expect((await serve.stop('SIGTERM')).code).toBe(0);
  });

  it('chooses the series of NIXL: flag, file, default; the labels by a variable of NIXL as well', async () => {
    const file = fileWith("nixlRelease: '1.3'\nnixlLabels: prometheus");
    const mp = { NIXL_TELEMETRY_EXPORTER: 'prometheus_mp' };
    const chosen = (...given: Parameters<typeof settingsOf>): string[] => {
      const { nixlRelease, nixlLabels } = settingsOf(...given);
      return [nixlRelease, nixlLabels];
    };
    expect(chosen({}, {})).toEqual(['main', 'prometheus']);
    expect(chosen({}, mp)).toEqual(['main', 'prometheus_mp']);
    expect(chosen({ config: file }, {})).toEqual(['1.3', 'prometheus']);
    expect(chosen({ config: file }, mp)).toEqual(['1.3', 'prometheus_mp']);
    expect(chosen({ config: file, nixlRelease: '1.2', nixlLabels: 'prometheus' }, mp)).toEqual(['1.2', 'prometheus']);

    const message = effectiveConfig(file, mp);
    expect(message).toContain(
      '# from file\nnixlRelease: "1.3"\n# from NIXL_TELEMETRY_EXPORTER\nnixlLabels: prometheus_mp\n',
    );
    expect(readSettings(fileWith(message), SERVE_SECTION).written).toMatchObject({ nixlRelease: '1.3' });

    const [directory, options] = [temporaryDirectory(), ['--host', '127.0.0.1', '--port', '0']];
    const serve = start(['serve', '--dir', directory, '--config', file, ...options], mp);
    await serve.says(/naming nixl of NIXL 1\.3 with the labels of prometheus_mp;/);
    const wrong = await runHere(['serve', '--dir', directory, '--nixl-release', '1.1']);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain('Allowed: 1.0, 1.2, 1.3, 1.4, main.');
  });

  it.each([
    [['--naming', 'otel'], 'hostname: h'],
    [[], 'naming: otel'],
    [[], 'builders: [events]'],
  ])('warns of no labels that only the variable of NIXL asks for: %j, %s', async (flags, text) => {
    const file = fileWith(`attributes: [{ name: pid, source: pid }]\n${text}`);
    const args = ['serve', '--dir', temporaryDirectory(), '--config', file, '--host', '127.0.0.1', '--port', '0'];
    const serve = start([...args, ...flags], { NIXL_TELEMETRY_EXPORTER: 'prometheus_mp' });
    await serve.says(/serves http/);
    expect((await serve.stop('SIGTERM')).stderr).not.toContain('warning');
  });

  it.each(['naming: otel', 'builders: [events]'])('prints no labels that no series has: %s', (text) => {
    const file = fileWith(`attributes: [{ name: pid, source: pid }]\n${text}`);
    const printed = effectiveConfig(file, { NIXL_TELEMETRY_EXPORTER: 'prometheus_mp' });
    expect(printed).toContain('# from default\nnixlLabels: prometheus\n');
    producerSettings({ directories: '/none', configFile: fileWith(printed) }, {});
  });

  it('chooses the series: flag, file, default; a list of builders replaces only the default', async () => {
    const file = fileWith('series: full');
    expect(effectiveConfig(undefined, {})).toContain('# from default\nseries: standard\n');
    expect(effectiveConfig(file, {})).toContain('# from file\nseries: full\n');
    const builders = fileWith('directories: /none\nbuilders: [nixl]');
    expect(effectiveConfig(builders, {})).not.toMatch(/^series:/m);
    producerSettings({ configFile: fileWith(effectiveConfig(builders, {})) }, {});
    producerSettings({ configFile: fileWith(effectiveConfig(fileWith('directories: /none'), {})) }, {});
    const args = ['serve', '--dir', temporaryDirectory(), '--port', '0', '--series', 'nixl', '--config', builders];
    const { code, stderr } = await runHere(args);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `series is "nixl", but ${builders}:2:1: builders is set as well, and each of them chooses all metrics: set only one of the two`,
    );
  });

  it('refuses an attribute with the name of a label that a flag or variable selects', async () => {
    const file = fileWith('attributes: [{ name: pid, source: pid }]');
    const { code, stderr } = await runHere([
      'serve',
      '--dir',
      temporaryDirectory(),
      '--config',
      file,
      '--port',
      '0',
      '--nixl-labels',
      'prometheus_mp',
    ]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(
      `${file}:1:16: attributes[0].name is pid, but nixlLabels is prometheus_mp, which has the label pid: ` +
        'give the attribute another name, or set nixlLabels to prometheus',
    );
  });

  it('gives serve the globs of a file that has directories, too, unless a flag or a variable names a place', async () => {
    const [first, second] = [temporaryDirectory(), temporaryDirectory()];
    const writers = [path.join(first, 'one'), path.join(second, 'two')].map(
      (file) => new RingWriter(file, { wireVersion: 4 }),
    );
    const file = fileWith(`directories: ${first}\nglobs: ${second}/t*\nserve: { port: 0 }`);
    const served = async (env: NodeJS.ProcessEnv, ...agents: string[]): Promise<string> => {
      for (const writer of writers) writer.push({ type: 0, value: 1 });
      const serve = start(['serve', '--config', file], env);
      const [, url] = await serve.says(/serves (http:\S+) from/);
      const page = await until(async () => {
        const text = await scrape(url!);
        return agents.every((agent) => text.includes(`agent_name="${agent}"`)) && text;
      });
      await serve.stop('SIGTERM');
      return page;
    };
    await served({}, 'one', 'two');
    expect(await served({ NIXL_TELEMETRY_DIR: first }, 'one')).not.toContain('agent_name="two"');
  });

  it('gives no value for a variable that the exporter itself reads', () => {
    const file = fileWith('serve: { otlpEndpoint: "http://file:1" }');
    const endpoint = (env: Record<string, string>) => settingsOf({ config: file }, env).otlpEndpoint;
    expect(endpoint({})).toBe('http://file:1');
    expect(endpoint({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://env:1' })).toBeUndefined();
  });

  it('gives serve attributes and builders, which have no flags', async () => {
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'prefill-0'), { wireVersion: 4 });
    const file = fileWith(`
      attributes: [{ name: role, source: { pattern: '^(?<role>\\w+)-', group: role } }]
      builders: [nixl, ./failures.mjs]
      serve: { port: 0 }`);
    writeFileSync(
      path.join(path.dirname(file), 'failures.mjs'),
      `export default class {
         name = 'failures';
         create(meter) { this.counter = meter.createCounter('team.failures'); }
         take(events) { for (const { value, attributes } of events) this.counter.add(value, attributes); }
       }`,
    );
    writer.push({ type: 8, value: 1 });
    const serve = start(['serve', '--dir', directory], { NIXL_OTEL_CONFIG: file });
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await allDrained(directory);
    const page = await scrape(url!);
    expect(page).toMatch(/^team_failures_total\{role="prefill"\} 1$/m);
    expect(page).toMatch(/^agent_errors_total\{.*role="prefill".*\} 1$/m);
    expect((await serve.stop('SIGTERM')).code).toBe(0);
  });

  it('does not end serve if the promises of a builder reject', async () => {
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
    const file = fileWith('builders: [nixl, ./async.mjs]\nserve: { port: 0 }');
    writeFileSync(
      path.join(path.dirname(file), 'async.mjs'),
      `export default {
         name: 'webhook',
         create() {},
         async take() { throw new Error('no take'); },
         async observe() { throw new Error('no observe'); },
         async close() { throw new Error('no close'); },
       };`,
    );
    const serve = start(['serve', '--dir', directory], { NIXL_OTEL_CONFIG: file });
    const [, url] = await serve.says(/serves (http:\S+) from/);
    for (let value = 1; value <= 3; value++) {
      writer.push({ type: 8, value });
      expect(await scrape(url!)).toMatch(new RegExp(`^agent_errors_total\\{.*\\} ${(value * (value + 1)) / 2}$`, 'm'));
    }
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stderr.match(/webhook.*/g)).toEqual([expect.stringMatching(/^webhook: (take|observe)\(\) failed: no/)]);
  });
});

describe('a module that a file names', () => {
  /** Makes a file and a module that writes a line into `log` for each builder that it makes. */
  function fileWithModule(): { file: string; constructed: () => number } {
    const file = fileWith("directories: /none\nbuilders: [./own.mjs]\nserve: { port: 0, page: 'off' }");
    const log = path.join(path.dirname(file), 'log');
    writeFileSync(log, '');
    writeFileSync(
      path.join(path.dirname(file), 'own.mjs'),
      `import { appendFileSync } from 'node:fs';
       export default class {
         name = 'own';
         constructor() { appendFileSync(${JSON.stringify(log)}, '+'); }
         create() {}
       }`,
    );
    return { file, constructed: () => readFileSync(log, 'utf8').length };
  }

  it.each(['check', 'print'])('makes one builder in config %s', async (command) => {
    const { file, constructed } = fileWithModule();
    expect(await runHere(['config', command, file])).toMatchObject({ code: 0 });
    expect(constructed()).toBe(1);
  });

  it('makes one builder in serve', async () => {
    const { file, constructed } = fileWithModule();
    const serve = start(['serve', '--config', file]);
    await serve.says(/serves http/);
    expect(constructed()).toBe(1);
    expect((await serve.stop('SIGTERM')).code).toBe(0);
  });
});

describe('a configuration from a pipe, which can be read once,', () => {
  /** As `nixl-otel ARGS <(printf TEXT)` in a shell. */
  function piped(text: string, ...args: string[]): RunningCommand {
    const command = [process.execPath, MAIN, ...args].map((one) => `'${one}'`).join(' ');
    return new RunningCommand('bash', ['-c', `exec ${command} <(cat "$0")`, fileWith(text)]);
  }

  it('is in force in serve', async () => {
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'a'), { wireVersion: 4 });
    for (const type of [0, 1]) writer.push({ type, value: 1 });
    const serve = piped(
      `directories: ${directory}\nenabledMetrics: agent_tx_*
attributes: [{ name: team, source: { constant: x } }]\nserve: { port: 0 }`,
      'serve',
      '--config',
    );
    const [, url] = await serve.says(/serves (http:\S+) from/);
    const page = await scrape(url!);
    expect(page).toMatch(/^agent_tx_bytes_total\{.*team="x".*\} 1$/m);
    expect(page).not.toContain('agent_rx_bytes');
    expect((await serve.stop('SIGTERM')).code).toBe(0);
  });

  it.each(['check', 'print'])('is checked completely by config %s', async (command) => {
    const { code, stderr } = await piped('builders: [/no/such.mjs]', 'config', command).ended;
    expect(stderr).toContain('builder /no/such.mjs cannot be loaded');
    expect(code).toBe(2);
  });

  it.each(['<(cat "$0")', '/dev/stdin < "$0"', '/proc/self/fd/7 7< "$0"'])(
    'has its paths relative to the working directory: %s',
    async (given) => {
      const file = fileWith('directories: rings');
      const shell = `'${process.execPath}' '${MAIN}' config print ${given}`;
      const { stdout } = await new RunningCommand('bash', ['-c', shell, file]).ended;
      expect(parse(stdout)).toMatchObject({ directories: [path.resolve('rings')] });
    },
  );

  it('is printed completely', async () => {
    expect(parse((await piped('idleTtlMs: 77', 'config', 'print').ended).stdout)).toMatchObject({ idleTtlMs: 77 });
  });
});

describe('nixl-otel config', () => {
  it('checks a limit of series, too', async () => {
    const file = fileWith('seriesLimit: 20\ndurationBudgetMs: 50');
    expect(await runHere(['config', 'check', file])).toMatchObject({ code: 0, stdout: `${file} is valid\n` });
  });

  it('warns of settings without effect, as serve does', async () => {
    const warnings = async (text: string) => {
      const { code, stderr } = await runHere(['config', 'check', fileWith(text)]);
      return { code, stderr };
    };
    expect(await warnings("naming: otel\nnixlRelease: '1.2'\nnixlLabels: prometheus_mp")).toEqual({
      code: 0,
      stderr:
        'nixl-otel: warning: nixlRelease 1.2 has no effect in naming otel\n' +
        'nixl-otel: warning: nixlLabels prometheus_mp has no effect in naming otel\n',
    });
    expect(
      await warnings("nixlRelease: '1.2'\ncustomEvents: [{ event: 77, kind: error, status: xfer_stalled }]"),
    ).toMatchObject({ code: 0, stderr: expect.stringContaining('are counted in nixl.events only') as string });
  });

  it('checks that exporters exist', async () => {
    const file = fileWith('serve: { exporter: [console, prom] }');
    const { code, stderr } = await runHere(['config', 'check', file]);
    expect(code).toBe(1);
    expect(stderr).toContain('there is no exporter prom; built in are prometheus, otlp, console; searched');
  });

  it('checks', async () => {
    const good = fileWith(GOOD);
    expect(await runHere(['config', 'check', good])).toMatchObject({ code: 0, stdout: `${good} is valid\n` });
    const bad = fileWith('naming: x');
    const { code, stderr } = await runHere(['config', 'check'], { NIXL_OTEL_CONFIG: bad });
    expect(code).toBe(2);
    expect(stderr).toContain(`${bad}:1:1: naming is "x"`);
    expect((await runHere(['config', 'check'])).code).toBe(2);
  });

  it('prints globs only if they are in force', async () => {
    const file = fileWith('globs: /x/*');
    const printed = async (env: NodeJS.ProcessEnv): Promise<unknown> =>
      parse((await runHere(['config', 'print', file], env)).stdout);
    expect(await printed({})).toMatchObject({ globs: ['/x/*'] });
    expect(await printed({ NIXL_TELEMETRY_DIR: '/env' })).toMatchObject({ directories: ['/env'] });
    expect(await printed({ NIXL_TELEMETRY_DIR: '/env' })).not.toHaveProperty('globs');
  });

  it.each<Record<string, string>>([
    { NIXL_TELEMETRY_EXPORTER: 'NOP' },
    { NIXL_TELEMETRY_EXPORTER: 'prometheus', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '[::1]:0' },
    { NIXL_TELEMETRY_EXPORTER: 'console', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '/tmp/a: b' },
    { NIXL_TELEMETRY_EXPORTER: 'otlp', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: 'collector:4317' },
    { NIXL_TELEMETRY_EXPORTER: 'buffer', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '/b' },
    { NIXL_TELEMETRY_MP_STALE_TTL: '1099511627', NIXL_TELEMETRY_RUN_INTERVAL: '1', NIXL_TELEMETRY_RANK_ENV: 'RANK' },
    { NIXL_TELEMETRY_ENABLED_METRICS: '*_bytes,!agent_err_*', NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US: '.5,1e3' },
    { OTEL_METRICS_EXPORTER: 'otlp,console', OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'DELTA' },
  ])('prints %j as a valid file with the same values', (environment) => {
    const own = fileWith(
      'builders: [nixl, ./own.mjs]\nattributes: [{ name: a, type: list, source: { constant: &c [x] }, default: *c }]',
    );
    writeFileSync(path.join(path.dirname(own), 'own.mjs'), 'export default { name: "own", create() {} }');
    const printed = effectiveConfig(own, environment);
    const again = fileWith(printed);
    buildersOf(readSettings(again, SERVE_SECTION));
    expect(parse(effectiveConfig(again, {}))).toEqual(parse(printed));
  });

  it('prints the values in force, as a file with the same meaning', async () => {
    const { code, stdout } = await runHere(['config', 'print', fileWith(GOOD)], {
      NIXL_TELEMETRY_DIR: '/env',
      OTEL_EXPORTER_PROMETHEUS_PORT: '1',
    });
    expect(code).toBe(0);
    expect(stdout).toContain('# from NIXL_TELEMETRY_DIR\ndirectories: [ /env ]');
    expect(stdout).toContain('# from file\nnaming: otel');
    expect(stdout).toContain('  # from OTEL_EXPORTER_PROMETHEUS_PORT\n  port: 1');
    expect(stdout).toContain('  # from default\n  host: 127.0.0.1');
    const again = fileWith(stdout);
    expect(parse((await runHere(['config', 'print', again])).stdout)).toEqual(parse(stdout));
  });
});
