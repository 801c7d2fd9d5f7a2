/** The rest of deploy/, checked by its tools. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, type RunningCommand, start, temporaryDirectory } from '../cli/command.js';
import { program } from '../servers/server.js';
import { freePort } from '../support/free-port.js';
import { at, parsed } from './manifests.js';

const UNIT = 'systemd/nixl-otel@.service';

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  environment?: Record<string, string>;
  volumes?: { type: string; source: string; target: string }[];
}

/** The services of a compose file, as docker-compose understands it. */
function servicesOf(file: string): Record<string, Service> {
  const text = execFileSync(program('docker-compose'), ['-f', at(file), 'config', '--format', 'json']);
  return (JSON.parse(text.toString()) as { services: Record<string, Service> }).services;
}

test.each([
  ['compose.yaml', ['agents', 'grafana', 'nixl-otel', 'prometheus'], ['agents']],
  ['engines/vllm.compose.yaml', ['decode', 'nixl-otel', 'prefill'], ['decode', 'prefill']],
  ['engines/dynamo.compose.yaml', ['dynamo', 'nixl-otel'], ['dynamo']],
])('docker-compose accepts %s, whose agents write where nixl-otel reads', (file, names, agents) => {
  const services = servicesOf(file);
  expect(Object.keys(services).sort()).toEqual(names);
  const reader = services['nixl-otel']!;
  const rings = reader.volumes!.find(({ target }) => target === reader.environment!['NIXL_TELEMETRY_DIR'])!;
  for (const name of agents) {
    const { environment, volumes } = services[name]!;
    expect(environment).toMatchObject({ NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_DIR: '/nixl' });
    expect(environment).not.toHaveProperty('NIXL_TELEMETRY_EXPORTER');
    expect(volumes).toContainEqual({ ...rings, target: '/nixl' });
  }
  const mounts = Object.values(services).flatMap(({ volumes = [] }) => volumes.filter(({ type }) => type === 'bind'));
  const { context, dockerfile } = reader.build!;
  const files = [path.join(context, dockerfile), ...mounts.map(({ source }) => source)];
  for (const file of files) expect(existsSync(file), file).toBe(true);
  // A name without a registry would come from a public one.
  for (const { image } of Object.values(services)) expect(image).toMatch(/^(localhost|[\w-]+(\.[\w-]+)+)\/.+:.+$/);
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(reader.image).toBe(`localhost/nixl-otel:${version}`);
});

test('promtool accepts prometheus.yml and its rules', () => {
  const { stdout, stderr, status } = spawnSync(program('promtool'), [
    'check',
    'config',
    at('prometheus/prometheus.yml'),
  ]);
  expect({ status, text: `${stdout.toString()}${stderr.toString()}` }).toMatchObject({ status: 0 });
});

test('the data source of Grafana has the interval of the scrapes', () => {
  const { global } = parsed<{ global: { scrape_interval: string } }>('prometheus/prometheus.yml');
  interface Provisioned {
    datasources: { jsonData?: { timeInterval: string } }[];
  }
  const { datasources } = parsed<Provisioned>('grafana/provisioning/datasources/prometheus.yaml');
  expect(datasources.map(({ jsonData }) => jsonData?.timeInterval)).toEqual([global.scrape_interval]);
});

test.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd accepts the unit without a message', () => {
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', at(UNIT)]);
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
});

test('the unit makes the directory of the socket in docs/access.md, for both instances', () => {
  const unit = readFileSync(at(UNIT), 'utf8');
  const page = readFileSync(path.join(ROOT, 'docs/access.md'), 'utf8');
  const [, directory] = /--listen unix:\/run\/(\S+)\/serve\.sock$/m.exec(page)!;
  expect(unit).toMatch(new RegExp(`^RuntimeDirectory=${directory}$`, 'm'));
  // Otherwise the end of one instance would remove the socket of the other one.
  expect(unit).toMatch(/^RuntimeDirectoryPreserve=yes$/m);
  // Another mode would restrict the clients that --socket-mode admits.
  expect(unit).toMatch(/^RuntimeDirectoryMode=0755$/m);
});

test('of two instances of the unit one serves, and the other one takes over', async () => {
  const unit = readFileSync(at(UNIT), 'utf8');
  // systemctl returns when an instance reports one of the two states: serve does so by a child.
  expect(unit).toMatch(/^Type=notify$/m);
  expect(unit).toMatch(/^NotifyAccess=all$/m);
  const [, flags] = /^ExecStart=\/usr\/bin\/env nixl-otel (.+)$/m.exec(unit)!;
  const port = String(await freePort());
  const env = { NIXL_TELEMETRY_DIR: temporaryDirectory(), OTEL_EXPORTER_PROMETHEUS_PORT: port };
  const [a, b] = [start(flags!.split(' '), env), start(flags!.split(' '), env)];
  const stands = (instance: RunningCommand): Promise<RunningCommand> => instance.says(/stands by/).then(() => instance);
  const standby = await Promise.race([stands(a), stands(b)]);
  const serving = standby === a ? b : a;
  await serving.says(/serves http/);
  expect(await serving.stop('SIGTERM')).toMatchObject({ code: 0 });
  expect((await standby.says(/serves http:\S+?:(\d+)/))[1]).toBe(port);
});

const canMakeDirectories = existsSync('/usr/bin/systemd-tmpfiles') && process.getuid!() === 0; // it sets their owner
test.runIf(canMakeDirectories)('systemd-tmpfiles makes the directory that the unit reads', () => {
  const root = temporaryDirectory();
  const unit = readFileSync(at(UNIT), 'utf8');
  const [, directory] = /^Environment=NIXL_TELEMETRY_DIR=(.+)$/m.exec(unit)!;
  const file = at('systemd/nixl-otel.tmpfiles.conf');
  const { stderr, status } = spawnSync('systemd-tmpfiles', ['--create', `--root=${root}`, file]);
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
  // Other users may neither write nor read, as SECURITY.md advises.
  expect((statSync(path.join(root, directory!)).mode & 0o7777).toString(8)).toBe('750');
  // The unit names the installed file.
  expect(unit).toContain('ExecStartPre=-+/usr/bin/systemd-tmpfiles --create nixl-otel.conf');
  expect(readFileSync(file, 'utf8')).toContain('/etc/tmpfiles.d/nixl-otel.conf');
});
