/** Snapshots of agents for tests of the history. */
import { expect } from 'vitest';
import { Recorder } from '../../../src/serve/history/recorder.js';
import type { AgentSnapshot, Snapshot } from '../../../src/shm-bridge/types.js';
import { agentSnapshot, START_MS } from '../../instrumentation/in-memory-source.js';

export { START_MS };
export const TX_BYTES = 0;
export const RX_BYTES = 1;
export const TX_REQUESTS = 2;
export const XFER_TIME = 6;
export const ERR_BACKEND = 10;

let ticks = 0;

/** Each one is of a later tick of the collector. */
export function snapshotAt(seconds: number, agents: AgentSnapshot[]): Snapshot {
  const collector = { drainIntervalMs: 20, ticks: ++ticks, lateTicks: 0, maxLagMs: 0, sinceTickMs: 3 };
  const none = { problems: [], problemCount: 0, stateProblems: [], stateLosses: [], openDirectories: [], places: [] };
  return { takenMs: START_MS + seconds * 1000, agents, ...none, collector };
}

type Values = Readonly<Record<number, readonly number[]>>;

/** Returns an agent whose events have these values since its start. */
export function agent(id: number, values: Values = {}, about: Partial<AgentSnapshot> = {}): AgentSnapshot {
  const events = Object.entries(values).map(([type, all]) => [type, all.map(BigInt)] as const);
  return agentSnapshot({ id, agent: `agent-${id}`, ...about }, Object.fromEntries(events));
}

/** Returns a recorder, and a function that takes a sample. The snapshot is ready at once. */
export function recording(beginSeconds = -1, agents: AgentSnapshot[] = []) {
  let snapshot = snapshotAt(beginSeconds, agents);
  let turn: (() => void) | undefined;
  const recorder = new Recorder({
    peek: () => snapshot,
    peekInSlices: async (_, { kept }) => {
      await Promise.resolve();
      turn?.();
      return (kept.last = snapshot);
    },
    customErrors: [],
    beganMs: START_MS,
    onFailure: expect.unreachable,
    later: (work) => work(),
  });
  recorder.close();
  return {
    recorder,
    sample(seconds: number, agents: AgentSnapshot[]) {
      snapshot = snapshotAt(seconds, agents);
      return recorder.sample(-1)!;
    },
    /** Takes a sample while the collector is blocked: the source repeats an earlier snapshot. */
    repeat(earlier: Snapshot, sinceTickMs: number) {
      snapshot = { ...earlier, collector: { ...earlier.collector, sinceTickMs } };
      return recorder.sample(-1)!;
    },
    /** Takes a sample without a request. `meanwhile` runs between two slices of its snapshot. */
    take(seconds: number, agents: AgentSnapshot[], meanwhile?: () => void) {
      const own = (snapshot = snapshotAt(seconds, agents));
      turn = () => {
        meanwhile?.();
        snapshot = own;
      };
      return recorder.take();
    },
  };
}
