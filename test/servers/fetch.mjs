// Fetches real servers and tools for tests from Debian, without installing anything: their packages are unpacked into
// node_modules/.cache/servers. A second run does nothing.
//
//   node test/servers/fetch.mjs                   all of them
//   node test/servers/fetch.mjs prometheus        some
//
// It uses the machine's mirror with a separate list of sources and a separate state: apt's do not change. The programs
// also run on Debian 12. Without apt-get, variables can name the programs (PROMETHEUS=/usr/local/bin/prometheus), which
// are then not fetched.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/servers', import.meta.url));
/**
 * Debian's Prometheus is built without its OTLP receiver: OTLP goes to VictoriaMetrics. That of trixie (1.112) accepts
 * it, but skips delta sums.
 */
const PROGRAMS = {
  prometheus: { package: 'prometheus', suite: 'forky' },
  promtool: { package: 'promtool', suite: 'forky' },
  'prometheus-node-exporter': { package: 'prometheus-node-exporter', suite: 'forky' },
  'docker-compose': {
    package: 'docker-compose',
    suite: 'trixie',
    file: 'usr/libexec/docker/cli-plugins/docker-compose',
  },
  'victoria-metrics': { package: 'victoria-metrics', suite: 'forky' },
};

class FetchError extends Error {}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0) return stdout;
  throw new FetchError(`${command} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
}

/** Address of this machine's mirror of Debian. */
function mirror() {
  const format = '$(ORIGIN)|$(REPO_URI)'; // apt knows the origin only after an update
  const rows = run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']).split('\n');
  const uris = rows
    .filter((row) => row.startsWith('Debian|') || row.endsWith('/debian/'))
    .map((row) => row.slice(row.indexOf('|') + 1))
    .filter((uri) => !uri.includes('security')); // holds no whole release
  return uris[0] ?? 'http://deb.debian.org/debian/';
}

function keyring() {
  const names = ['debian-archive-keyring.pgp', 'debian-archive-keyring.gpg'];
  const file = names.map((name) => `/usr/share/keyrings/${name}`).find((name) => existsSync(name));
  if (file === undefined)
    throw new FetchError('the keys of Debian are missing: apt-get install debian-archive-keyring');
  return file;
}

function fetch(programs, folder) {
  mkdirSync(path.join(folder, 'lists/partial'), { recursive: true });
  const suites = new Set(programs.map((program) => PROGRAMS[program].suite));
  const [key, from] = [keyring(), mirror()];
  const sources = [...suites].map((suite) => `deb [signed-by=${key}] ${from} ${suite} main\n`);
  writeFileSync(path.join(folder, 'sources.list'), sources.join(''));
  const options = Object.entries({
    'Dir::Etc::SourceList': path.join(folder, 'sources.list'),
    'Dir::Etc::SourceParts': '-',
    'Dir::State::Lists': path.join(folder, 'lists'),
    'Dir::Cache': folder,
    'Acquire::Languages': 'none',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  run('apt-get', [...options, '--error-on=any', 'update'], folder);
  for (const program of programs) {
    const { package: name, suite, file: inside = `usr/bin/${program}` } = PROGRAMS[program];
    run('apt-get', [...options, 'download', `${name}/${suite}`], folder);
    const file = readdirSync(folder).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
    run('dpkg', ['-x', file, 'unpacked'], folder);
    // Atomic: another run may do the same, and an interrupted one must not leave half of a program.
    renameSync(path.join(folder, 'unpacked', inside), path.join(CACHE, program));
    console.log(`fetched ${file}`);
  }
}

function variableOf(program) {
  return program.toUpperCase().replaceAll('-', '_');
}

function isThere(program) {
  return Boolean(process.env[variableOf(program)]) || existsSync(path.join(CACHE, program));
}

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in PROGRAMS));
if (unknown !== undefined) {
  console.error(`fetch: there is no ${unknown}; allowed: ${Object.keys(PROGRAMS).join(', ')}`);
  process.exit(2);
}
const missing = (asked.length > 0 ? asked : Object.keys(PROGRAMS)).filter((program) => !isThere(program));
const folder = path.join(CACHE, `fetching-${process.pid}`);
try {
  if (missing.length > 0) fetch(missing, folder);
} catch (error) {
  if (!(error instanceof FetchError)) throw error;
  console.error(`fetch: ${error.message}`);
  console.error(`fetch: or name programs that are there already: ${missing.map(variableOf).join('=..., ')}=...`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
