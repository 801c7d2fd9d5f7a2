/** Readiness of serve. Pure. */
import { oneLine } from '../../one-line.js';
import type { Snapshot } from '../../shm-bridge/types.js';

/** Without a tick for this long, the collector thread counts as blocked. */
const LATE_MS = 1000;
const MAX_LISTED = 20;

/**
 * Returns readiness and its text. Only a failure of serve itself makes it unready. Rings that cannot be read, and state files
 * that cannot be used, are warnings: an orchestrator that withdraws traffic would not help them.
 */
export function readiness(snapshot: Snapshot | undefined): { ready: boolean; text: string } {
  if (snapshot === undefined) return { ready: false, text: 'the rings are closed' };
  const { collector, agents, problems, problemCount, stateProblems } = snapshot;
  const lateMs = Math.max(LATE_MS, 10 * collector.drainIntervalMs);
  if (collector.sinceTickMs > lateMs) {
    const text = `the collector thread has had no turn for ${Math.round(collector.sinceTickMs)} ms`;
    return { ready: false, text };
  }
  const lines = [`ready, ${agents.filter(({ exported }) => exported).length} agents`];
  const warnings = [
    ...problems.map(({ path, state, reason }) => `"${path}" is ${state}: ${reason}`),
    ...stateProblems.map(({ path, reason }) => `state file of "${path}": ${reason}`),
  ];
  for (const warning of warnings.slice(0, MAX_LISTED)) lines.push(oneLine(`warning: ${warning}`));
  const unlisted = problemCount + stateProblems.length - MAX_LISTED;
  if (unlisted > 0) lines.push(`and ${unlisted} more`);
  return { ready: true, text: lines.join('\n') };
}
