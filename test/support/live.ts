import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { tallyOptions } from '../../src/mapping/index.js';
import { inspectRing, openSource, type RingSource, type Snapshot } from '../../src/shm-bridge/index.js';
import { until } from './until.js';

export const transferSourcePath = fileURLToPath(new URL('../../native/build/transfer-source', import.meta.url));

/** Last line of transfer-source, as far as tests read it. */
export interface Totals {
  agents: { agent: string; written: number; refused: number; dropped: number; wiped: number; restarts: number }[];
  totals: {
    written: number;
    refused: number;
    dropped: number;
    wiped: number;
    restarts: number;
    transfersTx: number;
    transfersRx: number;
    events: Record<string, { count: string | number; sum: string }>;
  };
}

export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'nixl-otel-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export function openTestSource(
  directories: string[],
  options: { deadTtlMs?: number; idleTtlMs?: number } = {},
): RingSource {
  const source = openSource({ directories, tally: tallyOptions(), ...options });
  onTestFinished(() => source.close());
  return source;
}

/** Returns the rings below these directories that have pending events. */
function notEmpty(directories: readonly string[]): string[] {
  const files = directories.flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name)),
  );
  return files.filter((file) => (inspectRing(file).pending ?? 0) > 0);
}

/**
 * Waits until a consumer, in any process, has emptied all rings below these directories: on a busy machine a requested
 * drain may end before. The consumer's next snapshot has the events.
 */
export async function allDrained(...directories: string[]): Promise<void> {
  await until(() => notEmpty(directories).length === 0);
}

/** Drains until the condition holds, without a turn of the event loop. @throws after a minute: vitest cannot end it */
export function drainUntil(source: RingSource, holds: () => boolean): void {
  const deadlineMs = performance.now() + 60_000;
  do {
    if (performance.now() > deadlineMs) throw new Error(`not within a minute: ${String(holds)}`);
    source.drainNow();
  } while (!holds());
}

/** Waits like allDrained(), without a turn of the event loop. */
export function drainAll(source: RingSource, ...directories: string[]): void {
  drainUntil(source, () => notEmpty(directories).length === 0);
}

/** Runs transfer-source to its end and returns its totals. */
export async function runTransferSource(args: string[]): Promise<Totals> {
  const child: ChildProcess = spawn(transferSourcePath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  child.stdout?.on('data', (text: Buffer) => (out += text.toString()));
  const code = await new Promise((done) => child.once('close', done));
  if (code !== 0) throw new Error(`transfer-source ended with ${String(code)}`);
  return JSON.parse(out.trim().split('\n').at(-1) as string) as Totals;
}

/** Count and sum per event name over all agents. */
export function sumsOf(snapshot: Snapshot, names: readonly string[]): Record<string, { count: string; sum: string }> {
  const sums: Record<string, { count: string; sum: string }> = {};
  for (const [type, name] of names.entries()) {
    let count = 0;
    let sum = 0n;
    for (const agent of snapshot.agents) {
      count += agent.events[type]?.count ?? 0;
      sum += agent.events[type]?.sum ?? 0n;
    }
    if (count > 0) sums[name] = { count: String(count), sum: String(sum) };
  }
  return sums;
}

export function drained(snapshot: Snapshot): number {
  return snapshot.agents.reduce((n, agent) => n + agent.events.reduce((m, event) => m + event.count, 0), 0);
}

/** Waits until a new file has a later birth time than this one: the kernel's clock moves in steps of some ms. */
export function untilYoungerThan(file: string): void {
  const directory = mkdtempSync(join(dirname(file), '.clock-'));
  const probe = join(directory, 'probe');
  const birth = (path: string): bigint => statSync(path, { bigint: true }).birthtimeNs;
  do {
    rmSync(probe, { force: true });
    writeFileSync(probe, '');
  } while (birth(probe) <= birth(file));
  rmSync(directory, { recursive: true });
}
