/** Reports of runs whose transfers a test chooses, made by the builder from snapshots as native code makes them. */
import { buildReport, type WatchedFacts } from '../../src/report/build-report.js';
import type { RunFacts, RunReport } from '../../src/report/run-report.js';
import { agentSnapshot, START_MS } from '../instrumentation/in-memory-source.js';
import { classesOf, type Transfer } from '../view/sizes/seven-agents.js';

export interface AgentOfRun {
  readonly agent: string;
  readonly tx?: readonly Transfer[];
  readonly rx?: readonly Transfer[];
  /** Bytes registered, and deregistered again. */
  readonly registered?: readonly number[];
  readonly deregistered?: readonly number[];
  readonly watched?: WatchedFacts;
}

export const RUN_FACTS: RunFacts = {
  command: ['python3', 'bench.py'],
  directory: '/dev/shm/nixl-otel-run-x',
  beginMs: START_MS,
  endMs: START_MS + 10_000,
  exitCode: 0,
  bufferSlots: 65_536,
  flushIntervalMs: 100,
};

const TX_BYTES = 0;
const RX_BYTES = 1;
const TX_REQUESTS = 2;
const RX_REQUESTS = 3;
const REGISTERED = 4;
const DEREGISTERED = 5;

/** Returns the report of a run of ten seconds. */
export function runReport(agents: readonly AgentOfRun[], about: Partial<RunReport> = {}): RunReport {
  const watchedOf = new Map(agents.map(({ agent, watched = {} }) => [agent, watched]));
  const report = buildReport({
    version: '0.0.0',
    hostname: 'host-a',
    takenMs: START_MS + 10_100,
    run: RUN_FACTS,
    agents: agents.map((one, i) => snapshotOf(i + 1, one)),
    watched: ({ agent }) => watchedOf.get(agent)!,
    problems: [],
    notes: [],
  });
  return { ...report, ...about };
}

function snapshotOf(id: number, { agent, tx = [], rx = [], registered = [], deregistered = [] }: AgentOfRun) {
  const bigints = (values: readonly number[]): bigint[] => values.map(BigInt);
  const bytes = (transfers: readonly Transfer[]): bigint[] => bigints(transfers.map((one) => one.bytes));
  const ones = (transfers: readonly Transfer[]): bigint[] => transfers.map(() => 1n);
  const timesOf = (transfers: readonly Transfer[]) => {
    return { classes: classesOf(transfers), endedInPost: 0, flushSquares: BigInt(transfers.length) };
  };
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
  return agentSnapshot(
    {
      id,
      agent,
      life: 'dead',
      pid: 100 + id,
      lastEventMs: START_MS + 9000,
      memoryInUse: BigInt(Math.max(0, sum(registered) - sum(deregistered))),
      timeBySize: { transmit: timesOf(tx), receive: timesOf(rx) },
    },
    {
      [TX_BYTES]: bytes(tx),
      [RX_BYTES]: bytes(rx),
      [TX_REQUESTS]: ones(tx),
      [RX_REQUESTS]: ones(rx),
      [REGISTERED]: bigints(registered),
      [DEREGISTERED]: bigints(deregistered),
    },
  );
}
