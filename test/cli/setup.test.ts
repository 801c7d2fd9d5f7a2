import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Ended, ROOT, RunningCommand, temporaryDirectory } from './command.js';

/** A checkout in small: our setup.mjs, a native part that is one copied file, and one TypeScript file. */
let checkout: string;

beforeEach(() => {
  checkout = temporaryDirectory();
  copyFileSync(path.join(ROOT, 'setup.mjs'), at('setup.mjs'));
  mkdirSync(at('node_modules'));
  symlinkSync(path.join(ROOT, 'node_modules/typescript'), at('node_modules/typescript'));
  mkdirSync(at('src'));
  mkdirSync(at('native/build'), { recursive: true });
  put('package.json', '{ "type": "module" }');
  put('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['src'] }));
  put('src/one.ts', 'export const one = 1;\n');
  put('native/source', '');
  put('native/Makefile', 'build/product: source\n\t@echo built >> build/log\n\t@cp $< $@\n');
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

const at = (...parts: string[]) => path.join(checkout, ...parts);
const put = (file: string, text: string) => writeFileSync(at(file), text);

function setup(args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new RunningCommand(process.execPath, ['setup.mjs', ...args], { CXX: '', ...env }, checkout).ended;
}

const INSTALLING = 'setup: installing packages (npm ci)\n';
const BUILDING = 'setup: building the native part (make)\n';
const COMPILING = 'setup: compiling TypeScript (tsc)\n';

describe('setup.mjs', () => {
  it('builds what is not built, and nothing twice', async () => {
    expect(await setup()).toMatchObject({ code: 0, stdout: BUILDING + COMPILING, stderr: '' });
    expect(existsSync(at('dist/one.js'))).toBe(true);
    expect(await setup()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('compiles again what changed, what is lost, and forgets what is gone', async () => {
    put('src/two.ts', 'export const two = 2;\n');
    await setup();
    put('src/one.ts', 'export const one = 11;\n');
    expect((await setup()).stdout).toBe(COMPILING);
    rmSync(at('dist/two.js'));
    expect((await setup()).stdout).toBe(COMPILING);
    expect(existsSync(at('dist/two.js'))).toBe(true);
    rmSync(at('src/two.ts'));
    expect((await setup()).stdout).toBe(COMPILING);
    expect(existsSync(at('dist/two.js'))).toBe(false);
    expect((await setup()).stdout).toBe('');
  });

  it('shows what the compiler says, fails, and tries again the next time', async () => {
    put('src/one.ts', 'export const one: string = 1;\n');
    for (let i = 0; i < 2; i++) {
      const { code, stderr } = await setup();
      expect(stderr).toContain('src/one.ts(1,14)');
      expect(stderr).toContain('setup: the TypeScript does not compile');
      expect(code).toBe(1);
    }
  });

  it('runs once when it is started twice at once', async () => {
    const both = await Promise.all([setup(), setup()]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const built = both.map(({ stdout }) => stdout).join('');
    expect(built.split(BUILDING)).toHaveLength(2);
    expect(built.split(COMPILING)).toHaveLength(2);
  });

  it('takes over the lock of one that died, also when its number is in use again', async () => {
    for (const holder of ['4194305:1', `${process.pid}:1`]) {
      rmSync(at('dist'), { recursive: true, force: true });
      symlinkSync(holder, at('native/build/.setup-lock'));
      expect((await setup()).code).toBe(0);
      expect(() => readlinkSync(at('native/build/.setup-lock'))).toThrow('ENOENT');
    }
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
    put('node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.1' } } }));
    expect((await setup(['--no-build'], env)).stdout).toBe('');
    expect(readFileSync(at('npm.log'), 'utf8')).toMatch(/^(ci .*\n){2}$/);
  });

  it('shows what npm says when it fails', async () => {
    mkdirSync(at('bin'));
    put('bin/npm', '#!/bin/sh\necho no network >&2\nexit 7\n');
    chmodSync(at('bin/npm'), 0o755);
    put('package-lock.json', '{ "packages": {} }');
    const { code, stderr } = await setup([], { PATH: `${at('bin')}:${process.env['PATH']}` });
    expect(stderr).toBe('no network\nsetup: npm ci failed (exit code 7)\n');
    expect(code).toBe(1);
  });

  it('refuses a flag that it does not know', async () => {
    const { code, stderr } = await setup(['--quick']);
    expect(stderr).toContain('--quick');
    expect(code).toBe(2);
  });
});

describe('setup.mjs without tools', () => {
  const PLAINLY = /apt-get install make g\+\+/;

  it('says that make and the compiler are missing, and how to get them', async () => {
    mkdirSync(at('bin'));
    const { code, stdout, stderr } = await setup([], { PATH: at('bin') });
    expect(stderr).toContain('make is missing; a C++ compiler (g++ or clang++) is missing');
    expect(stderr).toMatch(PLAINLY);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it('says that the compiler of CXX is missing', async () => {
    const { code, stderr } = await setup([], { CXX: '/no/such/compiler' });
    expect(stderr).toContain('the compiler of CXX, /no/such/compiler, is missing');
    expect(stderr).toMatch(PLAINLY);
    expect(code).toBe(1);
  });

  it('says that the compiler is too old', async () => {
    const { code, stderr } = await setup([], { CXX: 'false' });
    expect(stderr).toContain('false does not compile C++20');
    expect(code).toBe(1);
  });

  it('needs none when everything is built', async () => {
    await setup();
    expect(await setup([], { CXX: '/no/such/compiler' })).toMatchObject({ code: 0, stdout: '' });
  });

  it('--no-build checks and builds nothing', async () => {
    expect(await setup(['--no-build'])).toMatchObject({ code: 0, stdout: '' });
    expect(existsSync(at('dist'))).toBe(false);
    expect((await setup(['--no-build'], { CXX: '/no/such/compiler' })).code).toBe(1);
  });
});
