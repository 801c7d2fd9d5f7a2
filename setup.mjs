// Makes a checkout ready to run: packages from npm, the native part, the TypeScript. `npm start` and `npm test` call it,
// so it does only what is missing. A fresh clone needs Node, npm, make and a C++ compiler.
//   node setup.mjs              everything
//   node setup.mjs --no-build   only checks the tools and installs the packages
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Progress } from './packaging/progress.mjs';

process.chdir(fileURLToPath(new URL('.', import.meta.url)));

const progress = new Progress(process.stdout);
const say = (line) => progress.print(`setup: ${line}`);

function fail(message, code = 1) {
  progress.end();
  console.error(`setup: ${message}`);
  process.exit(code);
}

function checkPlatform() {
  // As "engines" in package.json has it: older ones warn at require() of an ES module, or have none.
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (!((major === 20 && minor >= 19) || (major === 22 && minor >= 13) || major >= 24)) {
    fail(`Node.js 20.19, 22.13 or 24, or a later one of these lines, is needed; this is ${process.versions.node}`);
  }
  if (process.platform === 'win32') fail('a checkout cannot be built on Windows: install a package file there');
}

function checkTools() {
  const problems = [isInstalled('make') ? undefined : 'make is missing', compilerProblem()].filter(Boolean);
  if (problems.length === 0) return;
  fail(`cannot build the native part: ${problems.join('; ')}
  Debian, Ubuntu:  apt-get install make g++
  Fedora, RHEL:    dnf install make gcc-c++
  Alpine:          apk add make g++`);
}

/** Checks the compiler that the Makefile chooses: CXX, perhaps of two words (`ccache g++`), or the first one found. */
function compilerProblem() {
  const asked = process.env.CXX?.trim();
  const compiler = (asked ? [asked] : ['g++', 'clang++', 'c++']).find(isInstalled);
  if (compiler === undefined) {
    return asked ? `the compiler of CXX, ${asked}, is missing` : 'a C++ compiler (g++ or clang++) is missing';
  }
  const [program, ...args] = `${compiler} -std=c++20 -pthread -fsyntax-only -x c++ -`.split(/\s+/);
  const input = '#include <stop_token>\n#include <thread>\nint main() { std::jthread([] {}).join(); }\n';
  const { status } = spawnSync(program, args, { input, stdio: ['pipe', 'ignore', 'ignore'] });
  return status === 0 ? undefined : `${compiler} does not compile C++20 (g++ 11 and later do)`;
}

function isInstalled(command) {
  const [program, ...args] = `${command} --version`.split(/\s+/);
  return spawnSync(program, args, { stdio: 'ignore' }).error?.code !== 'ENOENT';
}

const packages = {
  label: 'installing packages (npm ci)',
  command: ['npm', 'ci', '--include=dev', '--no-audit', '--no-fund'],

  /** Compares the lock file with npm's record of the last installation, which the user may have started. */
  isDone() {
    const wanted = JSON.parse(fs.readFileSync('package-lock.json', 'utf8')).packages;
    const installed = installedPackages();
    return Object.entries(wanted).every(([name, { version, integrity, optional, devOptional }]) => {
      const found = installed[name];
      if (name === '' || (found === undefined && (optional || devOptional))) return true;
      return found?.version === version && found.integrity === integrity;
    });
  },
  /** Compiles anew: types in packages may have changed, which tsc does not notice. */
  end: () => [STAMP, 'dist/.tsbuildinfo', 'dist/page/.tsbuildinfo'].forEach(remove),
};

function installedPackages() {
  try {
    return JSON.parse(fs.readFileSync('node_modules/.package-lock.json', 'utf8')).packages;
  } catch {
    return {}; // absent, or incomplete because npm was killed
  }
}

const native = {
  label: 'building the native part (make)',
  command: ['make', '-C', 'native', '--silent', `-j${os.availableParallelism?.()}`],

  isDone: () => spawnSync('make', ['-C', 'native', '--question'], { stdio: 'ignore' }).status === 0,
  /** Counts the files that make is about to make: a dry run prints the commands. */
  begin() {
    const { stdout } = spawnSync('make', ['-C', 'native', '--dry-run'], { encoding: 'utf8' });
    this.files = stdout.match(/^echo " *(CXX|LINK) /gm)?.length ?? 0;
    this.begun = 0;
  },
  /** Numbers the lines in which make names a file. */
  line(text) {
    if (!/^ *(CXX|LINK) /.test(text)) return text;
    return `  ${++this.begun} of ${this.files}${text}`;
  },
};

const STAMP = 'dist/.build-stamp'; // its time is the begin of the last successful compilation

/** Compares times as make does: tsc takes longer to find that nothing changed than all other checks together. */
const typescript = {
  label: 'compiling TypeScript (tsc)',
  command: [process.execPath, 'node_modules/typescript/bin/tsc', '--build', 'tsconfig.json', 'src/page/browser'],

  isDone() {
    const times = filesIn('src', /./).map((file) => timeOf(`src/${file}`));
    return isDistWhole() && timeOf(STAMP) > Math.max(timeOf('tsconfig.json'), ...times);
  },

  /** tsc keeps the output of a deleted source, which would be imported and published. It does not notice a lost output. */
  begin() {
    if (!isDistWhole()) remove('dist');
    this.begun = new Date();
  },
  end() {
    for (const file of filesIn('src', ASSETS)) {
      fs.mkdirSync(path.dirname(`dist/${file}`), { recursive: true });
      fs.copyFileSync(`src/${file}`, `dist/${file}`);
    }
    fs.writeFileSync(STAMP, '');
    fs.utimesSync(STAMP, this.begun, this.begun);
  },
};

const ASSETS = /\.(html|css|svg|woff2|txt)$/; // of the live page

function isDistWhole() {
  const wanted = [
    ...filesIn('src', /(?<!\.d)\.ts$/).map((file) => file.replace(/\.ts$/, '.js')),
    ...filesIn('src', ASSETS),
  ];
  const found = [...filesIn('dist', /\.js$/), ...filesIn('dist', ASSETS)];
  return wanted.sort().join() === found.sort().join();
}

const timeOf = (file) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function filesIn(folder, pattern) {
  return fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true }).filter((file) => pattern.test(file)) : [];
}

const remove = (path) => fs.rmSync(path, { recursive: true, force: true });

/** Waits for its turn. @returns a descriptor: the lock is released when every process that inherits it has ended. */
function lock() {
  const file = fs.openSync('setup.mjs', 'r+');
  const flock = (...flags) => spawnSync('flock', [...flags, '3'], { stdio: ['ignore', 'inherit', 'inherit', file] });
  const { status, error } = flock('-n');
  if (error) {
    say('flock (of util-linux or busybox) is missing: start no second setup before this one has ended');
  } else if (status !== 0) {
    say('waiting for another setup');
    flock('-x');
  }
  return file;
}

/** Runs the command of a step, and waits for its end. */
async function run(step, lockFile) {
  say(step.label);
  step.begin?.();
  const end = progress.begin(step.label);
  const [program, ...rest] = step.command;
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe', lockFile] });
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    createInterface(from).on('line', (text) => progress.print(step.line?.(text) ?? text, to));
  }
  const [status, signal, error] = await new Promise((resolve) => {
    child.once('error', (problem) => resolve([null, null, problem]));
    child.once('close', (...ended) => resolve(ended));
  });
  end();
  if (status === 0) return step.end?.();
  return `${step.label} failed (${error?.message ?? signal ?? `exit code ${status}`})`;
}

const args = process.argv.slice(2);
const unknown = args.find((arg) => arg !== '--no-build');
if (unknown !== undefined) fail(`there is no flag ${unknown}; usage: node setup.mjs [--no-build]`, 2);
checkPlatform();
const hasRings = process.platform === 'linux'; // elsewhere the package works without its native part
if (hasRings && !native.isDone()) checkTools(); // before the download, which takes longer
const built = args.includes('--no-build') ? [] : hasRings ? [native, typescript] : [typescript];
if (![packages, ...built].every((step) => step.isDone())) {
  const lockFile = lock();
  // Both compilers need the packages. They run beside each other: tsc uses one core.
  for (const steps of [[packages], built]) {
    const missing = steps.filter((step) => !step.isDone()); // perhaps another setup did the others meanwhile
    const problems = (await Promise.all(missing.map((step) => run(step, lockFile)))).filter(Boolean);
    if (problems.length > 0) fail(problems.join('\nsetup: '));
  }
  progress.end();
}
