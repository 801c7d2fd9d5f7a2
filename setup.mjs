// Makes a checkout ready to run: packages from npm, the native part, the TypeScript. Called before `npm start` and
// `npm test`, so it does only what is not done yet, and on a fresh clone it has nothing but Node to stand on.
//
//   node setup.mjs              everything
//   node setup.mjs --no-build   only checks the tools and installs the packages
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { rmdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('.', import.meta.url)); // import.meta.dirname is newer than the check below
const at = (...parts) => path.join(ROOT, ...parts);

const MIN_NODE = [20, 19];
const INSTALL_TOOLS = [
  'Debian, Ubuntu:  apt-get install make g++',
  'Fedora, RHEL:    dnf install make gcc-c++',
  'Alpine:          apk add make g++',
];

class SetupError extends Error {}

function say(line) {
  console.log(`setup: ${line}`);
}

/** Runs to the end with nothing on stdin. What it printed is shown only if it fails: a step is one line. */
function run(command, args, { failure } = {}) {
  const options = { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64 << 20, encoding: 'utf8' };
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, options);
  if (failure !== undefined && status !== 0) {
    process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
    throw new SetupError(`${failure} (${error?.message ?? signal ?? `exit code ${status}`})`);
  }
  return { ok: status === 0, missing: error?.code === 'ENOENT' };
}

// --- What is needed

function checkPlatform() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
    throw new SetupError(`Node.js ${MIN_NODE.join('.')} or later is needed; this is ${process.versions.node}`);
  }
  if (process.platform !== 'linux') {
    throw new SetupError(`Linux is needed (NIXL agents and their rings live there); this is ${process.platform}`);
  }
}

const CXX20_PROGRAM = '#include <stop_token>\n#include <thread>\nint main() { std::jthread([] {}).join(); }\n';

function checkTools() {
  const problems = [];
  if (run('make', ['--version']).missing) problems.push('make is missing');
  const compiler = findCompiler();
  if (compiler.problem) problems.push(compiler.problem);
  if (problems.length === 0) return;
  throw new SetupError(
    [`cannot build the native part: ${problems.join('; ')}`, ...INSTALL_TOOLS.map((line) => `  ${line}`)].join('\n'),
  );
}

/** The Makefile looks for the same ones in the same order. */
function findCompiler() {
  const asked = process.env.CXX;
  const commands = asked ? [asked] : ['g++', 'clang++', 'c++'];
  const found = commands.find((command) => !runWords(command, ['--version']).missing);
  if (found === undefined) {
    return {
      problem: asked ? `the compiler of CXX, ${asked}, is missing` : 'a C++ compiler (g++ or clang++) is missing',
    };
  }
  const flags = ['-std=c++20', '-pthread', '-fsyntax-only', '-x', 'c++', '-'];
  const { status } = spawnSync(...words(found, flags), { input: CXX20_PROGRAM, stdio: ['pipe', 'ignore', 'ignore'] });
  return status === 0 ? {} : { problem: `${found} does not compile C++20 (g++ 11 and later do)` };
}

/** CXX may be two words: `ccache g++`. */
function words(command, args) {
  const [program, ...first] = command.trim().split(/\s+/);
  return [program, [...first, ...args]];
}

function runWords(command, args) {
  return run(...words(command, args));
}

// --- The steps: each knows whether it is done

/** Compares what npm says it installed with what the lock file wants, so that an install by hand counts as well. */
const packages = {
  isDone() {
    if (!existsSync(at('package-lock.json'))) return true; // a published package: npm has installed what it needs
    if (!existsSync(at('node_modules/.package-lock.json'))) return false; // npm writes it last
    const wanted = lockedPackages('package-lock.json');
    const installed = lockedPackages('node_modules/.package-lock.json');
    return Object.entries(wanted).every(([name, { version, integrity, optional, devOptional }]) => {
      const found = installed[name];
      if (name === '' || (found === undefined && (optional || devOptional))) return true;
      return found?.version === version && found.integrity === integrity;
    });
  },
  do() {
    say('installing packages (npm ci)');
    const failure = 'npm ci failed';
    run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { failure });
  },
};

function lockedPackages(file) {
  return JSON.parse(readFileSync(at(file), 'utf8')).packages ?? {};
}

const native = {
  isDone() {
    return run('make', ['-C', 'native', '--question']).ok;
  },
  do() {
    say('building the native part (make)');
    const jobs = `-j${os.availableParallelism()}`;
    run('make', ['-C', 'native', '--silent', jobs], { failure: 'the native part does not build' });
  },
};

/**
 * Starting tsc costs a second even when there is nothing to do, so a fingerprint of its input decides. Sizes and times
 * stand for the files' content; the list notices files that are gone.
 */
const typescript = {
  isDone() {
    if (!existsSync(at('src'))) return true; // a published package: it carries dist
    return readIfThere(STAMP) === typescriptInput() && isAllBuilt();
  },
  do() {
    say('compiling TypeScript (tsc)');
    const failure = 'the TypeScript does not compile';
    rmSync(STAMP, { force: true });
    if (!isAllBuilt()) {
      // They believe that what they wrote once is still there.
      for (const file of ['dist/.tsbuildinfo', 'dist/cli/page/.tsbuildinfo']) rmSync(at(file), { force: true });
    }
    const input = typescriptInput();
    for (const project of PROJECTS) {
      run(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', project], { failure });
    }
    removeOrphans();
    for (const asset of assets()) copyFileSync(at('src', asset), at('dist', asset));
    writeFileSync(STAMP, input);
  },
};

const STAMP = at('dist/.build-stamp');
/** What runs in Node, and what runs in a browser. */
const PROJECTS = ['tsconfig.json', 'src/cli/page/browser/tsconfig.json'].filter((file) => existsSync(at(file)));

function sources() {
  return below('src', /(?<!\.d)\.ts$/);
}

/** Of the live page: served as they stand. */
function assets() {
  return below('src', /\.(html|css|svg)$/);
}

function below(folder, pattern) {
  return readdirSync(at(folder), { recursive: true })
    .filter((file) => pattern.test(file))
    .sort();
}

function isAllBuilt() {
  return [...sources(), ...assets()].every((source) => existsSync(at('dist', source.replace(/\.ts$/, '.js'))));
}

function typescriptInput() {
  const read = [...sources(), ...assets()].map((file) => `src/${file}`);
  const files = [...PROJECTS, 'package.json', 'package-lock.json', ...read];
  const hash = createHash('sha256');
  for (const file of files) {
    const info = statSync(at(file), { throwIfNoEntry: false });
    hash.update(`${file}\0${info?.size}\0${info?.mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** What a deleted or renamed source left in dist would still be found by imports, and be published. */
function removeOrphans() {
  const kept = new Set([...sources().map((source) => source.replace(/\.ts$/, '')), ...assets()]);
  for (const file of readdirSync(at('dist'), { recursive: true })) {
    const stem = file.replace(/\.(d\.ts|js|js\.map)$/, '');
    const isOutput = stem !== file || /\.(html|css|svg)$/.test(file);
    if (isOutput && !kept.has(stem)) rmSync(at('dist', file));
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

// --- One at a time

/**
 * A symbolic link whose target is the holder: made in one step, with its content. The start time tells a process from
 * a later one that got the same number.
 */
const LOCK = at('native/build/.setup-lock');
const TAKEOVER = `${LOCK}.takeover`;
const POLL_MS = 100;

async function lock() {
  mkdirSync(path.dirname(LOCK), { recursive: true });
  const me = holderOf(process.pid);
  for (let waited = false; ; waited = true) {
    try {
      symlinkSync(me, LOCK);
      process.once('exit', () => rmSync(LOCK, { force: true }));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = lockHolder();
    if (holder === undefined) continue;
    if (isGone(holder)) {
      removeStale(holder);
      continue;
    }
    if (!waited) say(`waiting for another setup (process ${holder.split(':')[0]})`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** `pid:start time`, or undefined where there is no such process. */
function holderOf(pid) {
  const stat = readIfThere(`/proc/${pid}/stat`);
  // The name in brackets may hold spaces and brackets: field 22 is the 20th after the last one.
  return stat && `${pid}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
}

function lockHolder() {
  try {
    return readlinkSync(LOCK);
  } catch {
    return undefined;
  }
}

function isGone(holder) {
  return holderOf(holder.split(':')[0]) !== holder;
}

/** Two that found the same dead holder must not remove each other's new lock: one looks and removes at a time. */
function removeStale(holder) {
  try {
    mkdirSync(TAKEOVER);
  } catch {
    const info = statSync(TAKEOVER, { throwIfNoEntry: false });
    if (info && Date.now() - info.mtimeMs > 10_000) rmSync(TAKEOVER, { recursive: true, force: true }); // died in it
    return;
  }
  try {
    if (lockHolder() === holder) unlinkSync(LOCK);
  } finally {
    rmdirSync(TAKEOVER);
  }
}

// --- In order

async function main(args) {
  const unknown = args.find((arg) => arg !== '--no-build');
  if (unknown !== undefined) {
    console.error(`setup: there is no flag ${unknown}; usage: node setup.mjs [--no-build]`);
    return 2;
  }
  checkPlatform();
  const build = !args.includes('--no-build');
  const steps = build ? [packages, native, typescript] : [packages];
  // Before the download: nobody should wait for it to be told that there is no compiler.
  if (!build || !native.isDone()) checkTools();
  if (steps.every((step) => step.isDone())) return 0;
  await lock();
  for (const step of steps) {
    if (!step.isDone()) step.do(); // asked again: another setup may have done it meanwhile
  }
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
}
