/** The rest of deploy/, checked by its tools. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, temporaryDirectory } from '../cli/command.js';
import { program } from '../servers/server.js';
import { at } from './manifests.js';

interface Compose {
  services: Record<string, { image: string; volumes?: { type: string; source: string }[] }>;
}

test('docker-compose accepts compose.yaml, and all mounted files exist', () => {
  const text = execFileSync(program('docker-compose'), ['-f', at('compose.yaml'), 'config', '--format', 'json']);
  const { services } = JSON.parse(text.toString()) as Compose;
  expect(Object.keys(services).sort()).toEqual(['agents', 'grafana', 'nixl-otel', 'prometheus']);
  const mounts = Object.values(services).flatMap(({ volumes = [] }) => volumes.filter(({ type }) => type === 'bind'));
  expect(mounts.length).toBeGreaterThan(2);
  for (const { source } of mounts) expect(existsSync(source), source).toBe(true);
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(services['nixl-otel']!.image).toBe(`nixl-otel:${version}`);
});

test('promtool accepts prometheus.yml and its rules', () => {
  const { stdout, stderr, status } = spawnSync(program('promtool'), [
    'check',
    'config',
    at('prometheus/prometheus.yml'),
  ]);
  expect({ status, text: `${stdout.toString()}${stderr.toString()}` }).toMatchObject({ status: 0 });
});

test.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd accepts the unit without a message', () => {
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', at('systemd/nixl-otel.service')]);
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
});

const canMakeDirectories = existsSync('/usr/bin/systemd-tmpfiles') && process.getuid!() === 0; // it sets their owner
test.runIf(canMakeDirectories)('systemd-tmpfiles makes the directory that the unit reads', () => {
  const root = temporaryDirectory();
  const unit = readFileSync(at('systemd/nixl-otel.service'), 'utf8');
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
