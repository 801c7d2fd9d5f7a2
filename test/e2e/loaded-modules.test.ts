/**
 * Modules that each entry point and command loads: nothing of OpenTelemetry's SDK without need, no unused exporter, and no more
 * files than a start may take time for.
 */
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/rings.js';
import { Authority } from '../support/certificates.js';
import { MAIN, ROOT, RunningCommand, temporaryDirectory } from '../cli/command.js';

const HOOKS = fileURLToPath(new URL('../support/loaded-modules.mjs', import.meta.url));
/** Real path, because dist is a link in the tests of the installed package. */
const DIST = `${realpathSync(path.join(ROOT, 'dist'))}/`;
const SDK = /^@opentelemetry\/(sdk-|exporter-|otlp-|resources$|core$|instrumentation$)/;

/** Starts a program, and returns its packages and files of dist once it has ended. `until`: output at which it is stopped. */
async function loadedBy(
  args: readonly string[],
  until?: RegExp,
  env: NodeJS.ProcessEnv = {},
): Promise<{ packages: string[]; files: string[] }> {
  const log = path.join(temporaryDirectory(), 'modules');
  const command = new RunningCommand(process.execPath, ['--import', HOOKS, ...args], { LOADED_MODULES: log, ...env });
  if (until !== undefined) {
    await command.says(until);
    void command.stop();
  }
  await command.ended;
  const modules = readFileSync(log, 'utf8').split('\n');
  const files = modules.flatMap((one) => one.split(DIST)[1] ?? []);
  const others = modules.filter((one) => !one.includes(DIST));
  const packages = others.flatMap((one) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(one)?.[1] ?? []);
  expect(files.length).toBeGreaterThan(0);
  return { packages: [...new Set(packages)].sort(), files };
}

it.each([
  ['rings.js', 9],
  ['testing.js', 52],
])('%s loads no package at all, and at most %d files', async (entry, most) => {
  const { packages, files } = await loadedBy([path.join(ROOT, 'dist', entry)]);
  expect(packages).toEqual([]);
  expect(files.length).toBeLessThanOrEqual(most);
});

it.each(['index.js', 'register.js'])('%s loads the base class of instrumentations, and no SDK', async (entry) => {
  const { packages } = await loadedBy([path.join(ROOT, 'dist', entry)]);
  expect(packages).toContain('@opentelemetry/instrumentation');
  expect(packages.filter((one) => SDK.test(one) && one !== '@opentelemetry/instrumentation')).toEqual([]);
});

describe('a command loads what it needs:', () => {
  const commander = ['commander'];
  const withApi = ['@opentelemetry/api', 'commander'];
  it.each<[most: number, packages: readonly string[], args: readonly string[]]>([
    [8, [], ['--version']],
    [10, commander, ['--help']],
    [42, commander, ['list', '--dir', 'RINGS']],
    [34, commander, ['read', 'RINGS/agent']],
    [91, commander, ['top', '--once', '--interval', '100', '--dir', 'RINGS']],
    [23, commander, ['doctor', '--help']],
    [69, withApi, ['config', 'schema']],
    [79, withApi, ['serve', '--help']],
  ])('at most %d files and %j for %j', async (most, expected, args) => {
    const writer = new RingWriter(path.join(temporaryDirectory(), 'agent'));
    const given = args.map((one) => one.replace('RINGS', path.dirname(writer.path)));
    const { packages, files } = await loadedBy([MAIN, ...given]);
    writer.close();
    expect(packages).toEqual(expected);
    expect(files.length).toBeLessThanOrEqual(most);
  });
});

it('a command loads a parser of TOML for a configuration file of NIXL alone', async () => {
  const file = path.join(temporaryDirectory(), 'nixl.toml');
  writeFileSync(file, '');
  const list = [MAIN, 'list', '--dir', temporaryDirectory()];
  expect((await loadedBy(list)).packages).toEqual(['commander']);
  const withFile = await loadedBy(list, undefined, { NIXL_CONFIG_FILE: file });
  expect(withFile.packages).toEqual(['commander', 'smol-toml']);
});

describe('serve loads the exporters that it is asked for:', () => {
  const otlp = ['--otlp-endpoint', 'http://127.0.0.1:9'];
  const [http, proto, grpc] = ['metrics-otlp-http', 'metrics-otlp-proto', 'metrics-otlp-grpc'];
  it.each([
    ['prometheus', [], []],
    ['console', [], []],
    ['otlp', [...otlp, '--otlp-protocol', 'http/json'], [http]],
    ['otlp', [...otlp, '--otlp-protocol', 'http/protobuf'], [proto]],
    ['otlp', [...otlp, '--otlp-protocol', 'grpc'], [grpc]],
    ['otlp', [...otlp, '--otlp-findings', 'on'], ['logs-otlp-proto', proto]],
  ])('%s %j', async (exporter, flags, expected) => {
    const args = [MAIN, 'serve', '--dir', temporaryDirectory(), '--port', '0', '--shutdown-timeout', '500'];
    const { packages, files } = await loadedBy([...args, '--exporter', exporter, ...flags], /drained every/);
    const exporters = packages.flatMap((one) => one.split('@opentelemetry/exporter-')[1] ?? []);
    // The packages of the other protocols are built on that of http.
    const asked = exporters.filter((name) => name !== http || exporter !== 'otlp' || expected.includes(http));
    expect(asked).toEqual(expected);
    expect(files).not.toContain('serve/outputs/console-file.js');
    expect(files.filter((file) => file.startsWith('serve/access/'))).toEqual([]);
    if (exporter === 'prometheus') expect(packages).toEqual(['@opentelemetry/api', 'commander']);
    if (exporter !== 'otlp') expect(packages.filter((one) => one.startsWith('@opentelemetry/otlp-'))).toEqual([]);
  });
});

it('serve loads a web configuration, and no package for passwords without users', async () => {
  const authority = new Authority();
  const { cert, key } = authority.issue('server');
  const config = path.join(temporaryDirectory(), 'web.json');
  writeFileSync(config, JSON.stringify({ tls_server_config: { cert_file: cert, key_file: key } }));
  const args = ['serve', '--dir', temporaryDirectory(), '--listen', '127.0.0.1:0', '--web-config', config];
  const { packages, files } = await loadedBy([MAIN, ...args], /drained every/);
  expect(files).toContain('serve/access/gate.js');
  expect(packages).toEqual(['@opentelemetry/api', 'commander']);
});

describe('inside a bundle', () => {
  const script = fileURLToPath(new URL('../support/bundled.mjs', import.meta.url));
  it.each([[undefined], [''], ['webpack:///app/index.js'], ['file:']])('with import.meta.url %j', async (...url) => {
    const given = url.filter((one) => one !== undefined);
    const flags = ['--no-warnings', '--experimental-vm-modules'];
    const { stderr, code } = await new RunningCommand(process.execPath, [...flags, script, ...given]).ended;
    expect(code, stderr).toBe(0);
    const found = JSON.parse(stderr.trim().split('\n').at(-1)!) as Record<string, string>;
    const reason =
      /cannot be found from inside a bundle: keep \S+ out of the bundle .*; import\.meta\.url is .*, which is no file/;
    expect(found['ring']).toMatch(/^NixlTelemetryError ADDON_MISSING: nixl_otel\.node /);
    expect(found['ring']).toMatch(reason);
    expect(found['producer']).toMatch(reason);
    expect(found['instrumentation']).toBe('object');
    expect(found['yaml']).toMatch(/CONFIG_INVALID: package yaml cannot be found/);
    expect(found['help']).toBe('0');
    expect(found['command']).toBe('1');
    expect(stderr).toMatch(reason);
  });
});
