/** The rings of a run, drained by this process. */
import { hostname } from 'node:os';
import { PACKAGE_VERSION } from '../../ground/package.js';
import { LONGEST_MS } from '../../ground/source-limits.js';
import type { AgentSnapshot } from '../../ground/tally.js';
import { tallyOptions } from '../../mapping/tally-options.js';
import { buildReport, type WatchedFacts } from '../../report/build-report.js';
import type { RunFacts, RunReport } from '../../report/run-report.js';
import { openSource, type RingSource } from '../../shm-bridge/source.js';
import type { RingsOfRun } from './run-exports.js';
import type { RunWatch } from './run-watch.js';

/** State lets `report` continue where a killed run ended. Agents that end stay until the report. */
export function openRunSource({ directory, drainIntervalMs }: RingsOfRun): RingSource {
  return openSource({
    directories: [directory],
    drainIntervalMs,
    deadTtlMs: LONGEST_MS,
    state: true,
    allocatePages: true,
    tally: tallyOptions(),
  });
}

interface AboutRun {
  readonly run: RunFacts;
  readonly notes: readonly string[];
  readonly watch?: RunWatch;
}

/** Requires a source that drains no more. */
export function reportOf(
  source: RingSource,
  { run, notes, watch }: AboutRun,
  watched: (agent: AgentSnapshot) => WatchedFacts,
): RunReport {
  const last = source.snapshot({ sizeClasses: true });
  const { agents, problems, takenMs } = last;
  watch?.takeSlice(last);
  return buildReport({
    version: PACKAGE_VERSION,
    hostname: hostname(),
    takenMs: Math.round(takenMs),
    run,
    agents,
    watched,
    ...(watch && { line: watch.line.steps, slices: watch.slices }),
    problems: problems.map(({ path, state, reason }) => ({ path, state, reason })),
    notes,
  });
}
