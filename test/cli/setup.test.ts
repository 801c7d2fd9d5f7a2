import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Ended, ROOT, RunningCommand, temporaryDirectory } from './command.js';

/** A small checkout: our setup.mjs, a native part of one copied file, two TypeScript files and an asset. All is built. */
let checkout: string;
/** The same for all tests, which work in copies. */
const template = mkdtempSync(path.join(tmpdir(), 'nixl-otel-test-'));
afterAll(() => rmSync(template, { recursive: true }));

beforeAll(async () => {
  checkout = template;
  for (const folder of ['packaging', 'node_modules', 'src/page/browser', 'native']) {
    mkdirSync(at(folder), { recursive: true });
  }
  for (const file of ['setup.mjs', 'packaging/progress.mjs']) copyFileSync(path.join(ROOT, file), at(file));
  symlinkSync(path.join(ROOT, 'node_modules/typescript'), at('node_modules/typescript'));
  put('package.json', '{ "type": "module" }');
  put('package-lock.json', '{ "packages": {} }');
  put('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['src/*.ts'] }));
  put('src/one.ts', 'export const one = 1;\n');
  put('src/page/browser/tsconfig.json', BROWSER_CONFIG);
  put('src/page/browser/main.ts', 'export const page = 1;\n');
  put('src/page/browser/page.css', 'body {}\n');
  put('native/source', '');
  put('native/Makefile', 'build/product: source\n\t@echo built >> build/log\n\t@cp $< $@\n');
  mkdirSync(at('native/build'));
  expect((await setup()).code).toBe(0);
});

beforeEach(() => {
  checkout = path.join(temporaryDirectory(), 'checkout');
  spawnSync('cp', ['-a', template, checkout]);
});

const COMPILER_OPTIONS = {
  rootDir: 'src',
  outDir: 'dist',
  incremental: true,
  tsBuildInfoFile: 'dist/.tsbuildinfo',
  types: [],
  lib: ['ES5'],
  skipLibCheck: true,
};
/** That of the page, without the types of a browser, which take long. */
const BROWSER_CONFIG = readFileSync(path.join(ROOT, 'src/page/browser/tsconfig.json'), 'utf8').replace(
  /"lib": .*/,
  '"lib": ["ES5"],',
);

const at = (...parts: string[]) => path.join(checkout, ...parts);
/** Removes what the native part or the TypeScript was built into. */
function forget(...folders: ('native/build' | 'dist')[]): void {
  for (const folder of folders) rmSync(at(folder), { recursive: true });
  mkdirSync(at('native/build'), { recursive: true });
}
const put = (file: string, text: string) => writeFileSync(at(file), text);

/** The compiler that it finds by default takes long: `true` compiles everything. */
function start(args: string[] = [], env: NodeJS.ProcessEnv = {}): RunningCommand {
  return new RunningCommand(process.execPath, ['setup.mjs', ...args], { CXX: 'true', ...env }, checkout);
}

const setup = (...args: Parameters<typeof start>): Promise<Ended> => start(...args).ended;

const INSTALLING = 'setup: installing packages (npm ci)\n';
const BUILDING = 'setup: building the native part (make)\n';
const COMPILING = 'setup: compiling TypeScript (tsc)\n';
const WAITING = 'setup: waiting for another setup\n';

/** Makes a PATH with only these programs of the machine. */
function binWith(...programs: string[]): string {
  mkdirSync(at('bin'));
  for (const program of programs) {
    symlinkSync(spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim(), at('bin', program));
  }
  return at('bin');
}

describe('setup.mjs', () => {
  it('builds what is not built, and nothing twice: it needs no compiler then', async () => {
    forget('native/build', 'dist');
    expect(await setup([], { CXX: '' })).toMatchObject({ code: 0, stdout: BUILDING + COMPILING, stderr: '' });
    expect(existsSync(at('dist/one.js'))).toBe(true);
    expect(await setup([], { CXX: '/no/such/compiler' })).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('compiles again after a change, a loss or a deletion', async () => {
    put('src/two.ts', 'export const two = 2;\n');
    put('src/one.ts', 'export const one = 11;\n');
    expect((await setup()).stdout).toBe(COMPILING);
    expect(readFileSync(at('dist/one.js'), 'utf8')).toContain('one = 11');
    rmSync(at('dist/two.js'));
    expect((await setup()).stdout).toBe(COMPILING);
    expect(existsSync(at('dist/two.js'))).toBe(true);
    rmSync(at('src/two.ts'));
    expect((await setup()).stdout).toBe(COMPILING);
    expect(existsSync(at('dist/two.js'))).toBe(false);
    expect((await setup()).stdout).toBe('');
  });

  it('copies the assets of the live page when they change', async () => {
    put('src/page/browser/page.css', 'body { color: red }\n');
    expect((await setup()).stdout).toBe(COMPILING);
    expect(readFileSync(at('dist/page/browser/page.css'), 'utf8')).toContain('red');
    expect((await setup()).stdout).toBe('');
  });

  it('shows the errors of the compiler, fails, and tries again the next time', async () => {
    put('src/one.ts', 'export const one: string = 1;\n');
    for (let i = 0; i < 2; i++) {
      const { code, stdout, stderr } = await setup();
      expect(stdout).toContain('src/one.ts(1,14)');
      expect(stderr).toMatch(/^setup: compiling TypeScript \(tsc\) failed \(exit code \d\)\n$/);
      expect(code).toBe(1);
    }
  });

  it('fails when the native part does not build, and shows why', async () => {
    forget('native/build');
    put('native/Makefile', 'build/product:\n\t@echo no such header >&2; false\n');
    const { code, stderr } = await setup();
    expect(stderr).toMatch(/no such header\n[^]*setup: building the native part \(make\) failed \(exit code 2\)\n$/);
    expect(code).toBe(1);
  });

  it('says which file of how many make begins, in plain lines', async () => {
    forget('native/build');
    put(
      'native/Makefile',
      'build/product: build/a.o build/b.o\n\t@echo "  LINK $@"\n\t@touch $@\n' +
        'build/b.o: build/a.o\nbuild/%.o: source\n\t@echo "  CXX  $@"\n\t@touch $@\n',
    );
    const lines = ['  1 of 3  CXX  build/a.o', '  2 of 3  CXX  build/b.o', '  3 of 3  LINK build/product'];
    const first = await setup();
    expect(first.stdout.split('\n').filter((line) => line.startsWith(' '))).toEqual(lines);
    expect(first.stdout).toMatch(/^[ -~\n]*$/);
    rmSync(at('native/build/product'));
    expect((await setup()).stdout).toBe(`${BUILDING}  1 of 1  LINK build/product\n`);
  });

  it('moves on a terminal while a step takes long, and cleans up', async () => {
    forget('native/build');
    spawnSync('mkfifo', [at('go')]);
    put('native/Makefile', 'build/product: source\n\t@read line < ../go; echo made; cp $< $@\n');
    const command = ['-qefc', `${process.execPath} setup.mjs`, '/dev/null'];
    const onTerminal = new RunningCommand('script', command, { CXX: 'true', TERM: 'xterm' }, checkout);
    await onTerminal.says(/[|/\\-] building the native part \(make\) \d s/);
    writeFileSync(at('go'), 'on\n');
    const { code, stdout } = await onTerminal.ended;
    expect(code).toBe(0);
    const clear = '\r\x1b[K';
    const left = stdout.split('\r\n').map((line) => line.split(clear).pop());
    expect(left.join('\n')).toBe(`${BUILDING}made\n`);
  });

  it('builds once when two start at once', async () => {
    forget('native/build', 'dist');
    const both = await Promise.all([setup(), setup()]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const built = both.map(({ stdout }) => stdout).join('');
    expect(built.split(BUILDING)).toHaveLength(2);
    expect(built.split(COMPILING)).toHaveLength(2);
  });

  it('waits for another setup', async () => {
    forget('native/build');
    const file = openSync(at('setup.mjs'), 'r+');
    spawnSync('flock', ['3'], { stdio: ['ignore', 'inherit', 'inherit', file] });
    const waiting = start();
    await waiting.says(/waiting/);
    closeSync(file);
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: WAITING + BUILDING, stderr: '' });
  });

  it('waits for the make of a setup that was killed', async () => {
    forget('native/build');
    spawnSync('mkfifo', [at('begun'), at('go')]);
    put(
      'native/Makefile',
      'build/product:\n\t@echo > ../begun; read line < ../go; echo built >> build/log; touch $@\n',
    );
    const killed = start();
    await readOnce(at('begun'));
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit'); // its make still has its output
    const next = start();
    await next.says(/waiting/);
    writeFileSync(at('go'), 'on\n');
    expect(await next.ended).toMatchObject({ code: 0, stdout: WAITING, stderr: '' });
    expect(readFileSync(at('native/build/log'), 'utf8')).toBe('built\n');
  });

  it('compiles again when a killed setup left incomplete files', async () => {
    writeFileSync(at('dist/.tsbuildinfo'), readFileSync(at('dist/.tsbuildinfo'), 'utf8').slice(0, 40));
    writeFileSync(at('dist/one.js'), 'expo');
    rmSync(at('dist/.build-stamp')); // written last
    expect(await setup()).toMatchObject({ code: 0, stdout: COMPILING, stderr: '' });
    expect(readFileSync(at('dist/one.js'), 'utf8')).toContain('one = 1');
  });

  it('builds without flock, with a warning', async () => {
    forget('native/build');
    const { code, stdout } = await setup([], { PATH: binWith('make', 'true', 'cp') });
    expect(stdout).toMatch(/^setup: flock .* is missing: .*\nsetup: building/);
    expect(code).toBe(0);
  });

  it('installs packages when the lock file wants others than npm has installed', async () => {
    mkdirSync(at('bin'));
    put('bin/npm', '#!/bin/sh\necho "$@" >>npm.log\ncp package-lock.json node_modules/.package-lock.json\n');
    chmodSync(at('bin/npm'), 0o755);
    const env = { PATH: `${at('bin')}:${process.env['PATH']}` };
    for (const version of ['1.0.0', '1.0.1']) {
      const packages = { '': {}, 'node_modules/a': { version }, 'node_modules/b': { version, optional: true } };
      put('package-lock.json', JSON.stringify({ packages }));
      expect((await setup(['--no-build'], env)).stdout).toBe(INSTALLING);
      expect((await setup(['--no-build'], env)).stdout).toBe('');
    }
    // npm leaves out what is optional and for another platform.
    const record = JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.1' } } });
    put('node_modules/.package-lock.json', record);
    expect((await setup(['--no-build'], env)).stdout).toBe('');
    put('node_modules/.package-lock.json', record.slice(0, 20)); // npm was killed while it wrote
    expect((await setup(['--no-build'], env)).stdout).toBe(INSTALLING);
    expect(readFileSync(at('npm.log'), 'utf8')).toMatch(/^(ci .*\n){3}$/);
  });

  it('builds no native part on a platform without rings, and refuses Windows', async () => {
    forget('native/build', 'dist');
    const on = (platform: string): string =>
      `--import=data:text/javascript,Object.defineProperty(process,'platform',{value:'${platform}'})`;
    expect(await setup([], { NODE_OPTIONS: on('darwin') })).toMatchObject({ code: 0, stdout: COMPILING, stderr: '' });
    expect(existsSync(at('native/build/log'))).toBe(false);
    const refused = 'setup: a checkout cannot be built on Windows: install a package file there\n';
    expect(await setup([], { NODE_OPTIONS: on('win32') })).toMatchObject({ code: 1, stdout: '', stderr: refused });
  });

  it('compiles again after an installation of packages, because types may have changed', async () => {
    mkdirSync(at('bin'));
    put('bin/npm', '#!/bin/sh\ncp package-lock.json node_modules/.package-lock.json\n');
    chmodSync(at('bin/npm'), 0o755);
    put('package-lock.json', JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
    const env = { PATH: `${at('bin')}:${process.env['PATH']}` };
    expect((await setup([], env)).stdout).toBe(INSTALLING + COMPILING);
  });

  it('shows the error of npm when it fails', async () => {
    mkdirSync(at('bin'));
    put('bin/npm', '#!/bin/sh\necho no network >&2\nexit 7\n');
    chmodSync(at('bin/npm'), 0o755);
    put('package-lock.json', '{ "packages": { "node_modules/a": { "version": "1.0.0" } } }');
    const { code, stderr } = await setup([], { PATH: `${at('bin')}:${process.env['PATH']}` });
    expect(stderr).toBe('no network\nsetup: installing packages (npm ci) failed (exit code 7)\n');
    expect(code).toBe(1);
  });

  it('refuses a flag that it does not know', async () => {
    const { code, stderr } = await setup(['--quick']);
    expect(stderr).toContain('--quick');
    expect(code).toBe(2);
  });
});

/** Waits for a writer of the named pipe. */
function readOnce(fifo: string): Promise<unknown> {
  return new Promise((resolve) => spawn('cat', [fifo], { stdio: 'ignore' }).once('close', resolve));
}

describe('setup.mjs without tools', () => {
  beforeEach(() => forget('native/build', 'dist'));
  const HELP = /apt-get install make g\+\+/;

  it('names what is missing, make and the compiler, and how to install it', async () => {
    mkdirSync(at('bin'));
    const { code, stdout, stderr } = await setup([], { PATH: at('bin'), CXX: '' });
    expect(stderr).toContain('make is missing; a C++ compiler (g++ or clang++) is missing');
    expect(stderr).toMatch(HELP);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it('names the missing compiler of CXX', async () => {
    const { code, stderr } = await setup([], { CXX: '/no/such/compiler' });
    expect(stderr).toContain('the compiler of CXX, /no/such/compiler, is missing');
    expect(stderr).toMatch(HELP);
    expect(code).toBe(1);
  });

  it('refuses a compiler without C++20', async () => {
    const { code, stderr } = await setup([], { CXX: 'false' });
    expect(stderr).toContain('false does not compile C++20');
    expect(code).toBe(1);
  });

  it('--no-build checks and builds nothing', async () => {
    expect(await setup(['--no-build'])).toMatchObject({ code: 0, stdout: '' });
    expect(existsSync(at('dist'))).toBe(false);
    expect((await setup(['--no-build'], { CXX: '/no/such/compiler' })).code).toBe(1);
  });
});
