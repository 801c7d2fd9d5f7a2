/** Programs that tests build from Go modules, cached outside of the checkout. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** Folder of the programs; it outlives a checkout. */
export const CACHE = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'nixl-otel-tests');

export interface GoToolOptions {
  /** Build tags. */
  tags?: readonly string[];
}

/**
 * Builds a package with the versions that the `go.mod` and `go.sum` of a directory name, once for each state of these
 * files, of its `*.go` and of the toolchain. GOFLAGS of the environment counts, for example `-p=1`.
 *
 * @returns the path of the program
 * @throws with the output of `go`
 */
export async function buildGoTool(directory: string, goPackage: string, options: GoToolOptions = {}): Promise<string> {
  const { tags = [] } = options;
  const name = path.basename(goPackage === '.' ? directory : goPackage);
  const { stdout: version } = await go(directory, ['version']);
  const program = path.join(CACHE, `${name}-${digest(directory, [version, goPackage, ...tags])}`);
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  // Atomic: another run may build the same, and an interrupted one must not leave half of a program.
  const unfinished = `${program}.${process.pid}`;
  const flags = ['-trimpath', '-buildvcs=false', '-ldflags=-s -w', `-tags=${tags.join(',')}`];
  await go(directory, ['build', ...flags, '-o', unfinished, goPackage]);
  renameSync(unfinished, program);
  return program;
}

/** Digest of what decides the program. */
function digest(directory: string, words: readonly string[]): string {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => /^go\.(mod|sum)$|\.go$/.test(file));
  const hash = createHash('sha256').update(words.join('\0'));
  for (const file of sources.sort()) hash.update(`\0${file}\0`).update(readFileSync(path.join(directory, file)));
  return hash.digest('hex').slice(0, 16);
}

async function go(cwd: string, args: readonly string[]): Promise<{ stdout: string }> {
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  try {
    return await exec('go', args, { cwd, env, maxBuffer: 64 << 20 });
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw new Error(`go ${args.join(' ')} in ${cwd}: ${stderr.trim() || message}`, { cause: error });
  }
}
