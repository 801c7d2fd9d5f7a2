/** Shared by the benches: medians, a directory for rings, an empty Node process as the reference. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const MAIN = path.join(ROOT, 'dist/cli/main.js');

/** Value above a share of the values; the median by default. */
export function quantile(values, share = 0.5) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const round = (value, digits = 2) => Number(value.toFixed(digits));

/** `1 agent`, `64 agents`. */
export const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

export function benchProgram(name) {
  return path.join(ROOT, 'native/build/bench', name);
}

/** Rows that a native bench prints, one in each line. */
export function nativeRows(name, args = []) {
  return execFileSync(benchProgram(name), args.map(String), { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const STAGES = fileURLToPath(new URL('stages.mjs', import.meta.url));

/** Times of the stages of a scrape and of an export for the agents of a directory, and the resulting bytes. */
export function stagesOf(directory, agents, runs, series = 'standard') {
  const args = ['--expose-gc', STAGES, directory, agents, runs, series].map(String);
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }));
}

/** Calls `work` with a directory in memory, where agents have their rings, and removes it afterwards. */
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

/** Median of the results of `measure`, after one run that warms up. */
export async function medianOf(runs, measure) {
  const values = [];
  for (let run = 0; run <= runs; run++) values.push(await measure());
  return quantile(values.slice(1));
}

/** Milliseconds of a whole Node process with these arguments. */
export function nodeMs(args, stdio = 'ignore') {
  const begun = performance.now();
  execFileSync(process.execPath, args, { stdio });
  return performance.now() - begun;
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
