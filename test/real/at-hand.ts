/** Programs and packages that tests make from public registries, where these are at hand. */
import { spawnSync } from 'node:child_process';

const REGISTRIES = {
  Go: { command: ['go', 'version'], needs: 'go 1.26 or later', url: 'https://proxy.golang.org/' },
  Python: {
    command: ['python3', '-m', 'pip', '--version'],
    needs: 'python3 with pip',
    url: 'https://pypi.org/simple/pip/',
  },
} as const;

/**
 * Returns what `make` makes. Without the language or its registry it prints what is missing, and returns undefined: the
 * tests are then skipped.
 * @throws the error of `make` if the language is there and its registry answers.
 */
export async function ifAtHand<T>(language: keyof typeof REGISTRIES, make: () => Promise<T>): Promise<T | undefined> {
  const { command, needs, url } = REGISTRIES[language];
  const [program, ...args] = command;
  if (spawnSync(program, args, { stdio: 'ignore' }).status !== 0) return missing(`${needs} is missing`);
  try {
    return await make();
  } catch (error) {
    if (await answers(url)) throw error;
    return missing(`${url} does not answer`, error);
  }
}

export function missing(reason: string, error?: unknown): undefined {
  console.log(`skipped: ${reason}${error instanceof Error ? `, and without it: ${error.message}` : ''}`);
}

async function answers(url: string): Promise<boolean> {
  const answer = fetch(url, { signal: AbortSignal.timeout(20_000) });
  return answer.then(
    () => true,
    () => false,
  );
}
