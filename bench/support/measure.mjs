/** What the benches share: medians, a place for rings, an empty Node process as the yardstick. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const MAIN = path.join(ROOT, 'dist/cli/main.js');

/** The value below which `share` of them lie; the median by default. */
export function quantile(values, share = 0.5) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const round = (value, digits = 2) => Number(value.toFixed(digits));

export function benchProgram(name) {
  return path.join(ROOT, 'native/build/bench', name);
}

/** What a native bench prints: a row in each line. */
export function nativeRows(name, args = []) {
  return execFileSync(benchProgram(name), args.map(String), { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const STAGES = fileURLToPath(new URL('stages.mjs', import.meta.url));

/** What each stage of a scrape and of an export takes for the agents of a directory, and the bytes that come of it. */
export function stagesOf(directory, agents, runs) {
  const args = [STAGES, directory, agents, runs].map(String);
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }));
}

/** Calls `work` with a directory where rings really lie, in memory, and removes it afterwards. */
export async function inDirectory(work) {
  const directory = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'nixl-otel-bench-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    return await work(directory);
  } finally {
    remove();
    process.off('exit', remove);
  }
}

/** The median of what `measure` returns, after one run that warms up. */
export async function medianOf(runs, measure) {
  const values = [];
  for (let run = 0; run <= runs; run++) values.push(await measure());
  return quantile(values.slice(1));
}

/** Milliseconds that a Node process takes which is given these arguments. */
export function nodeMs(args, stdio = 'ignore') {
  const begun = performance.now();
  execFileSync(process.execPath, args, { stdio });
  return performance.now() - begun;
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
