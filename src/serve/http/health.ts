/** Readiness of serve. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { intervalText } from '../../ground/figures/clock.js';
import { plural } from '../../ground/figures/figure.js';
import { problemGroups } from '../../instrumentation/feed/problem-groups.js';
import type { CollectorStats, RingProblem, Snapshot } from '../../shm-bridge/types.js';

/** Without a tick for this long, the collector thread counts as blocked. */
const LATE_MS = 1000;
const MAX_LISTED = 20;
/** States of directories and globs, and of rings that are read all the same. */
const READ: ReadonlySet<RingProblem['state']> = new Set([
  'absent',
  'no_rings',
  'relative',
  'no_space',
  'unseen',
  'deleted',
]);

/**
 * Returns readiness and its text. Only a failure of serve itself makes it unready. Rings that cannot be read, and state files
 * that cannot be used, are warnings: an orchestrator that withdraws traffic would not help them. A serve that waits for busy
 * rings is ready: a rolling update ends the consumer that holds them only then.
 */
export function readiness(snapshot: Snapshot | undefined): { ready: boolean; text: string } {
  if (snapshot === undefined) return { ready: false, text: 'the rings are closed' };
  const { collector, agents, problems, problemCount, stateProblems } = snapshot;
  const lateMs = collectorLateMs(collector);
  if (lateMs !== undefined)
    return { ready: false, text: `the collector thread has had no turn for ${intervalText(lateMs)}` };
  const unread = problemCount - problems.filter(({ state }) => READ.has(state)).length;
  const unreadText = unread === 0 ? '' : `; not read: ${plural(unread, 'file')}`;
  const lines = [`ready, ${plural(agents.filter(({ exported }) => exported).length, 'agent')}${unreadText}`];
  const found = [
    ...problemGroups(problems).map(({ path, state, reason, count }) => {
      const subject = count === 1 ? `"${path}" is` : `${plural(count, 'file')}, the first "${path}", are`;
      return `${state === 'busy' ? 'waits' : 'warning'}: ${subject} ${state}: ${reason}`;
    }),
    ...stateProblems.map(({ path, reason }) => `warning: state file of "${path}": ${reason}`),
  ];
  for (const line of found.slice(0, MAX_LISTED)) lines.push(oneLine(line));
  const unlisted = problemCount - problems.length + Math.max(0, found.length - MAX_LISTED);
  if (unlisted > 0) lines.push(`and ${unlisted} more`);
  return { ready: true, text: lines.join('\n') };
}

/** Returns the time since the collector thread's last turn if it is too long. */
export function collectorLateMs({ drainIntervalMs, sinceTickMs }: CollectorStats): number | undefined {
  return sinceTickMs > Math.max(LATE_MS, 10 * drainIntervalMs) ? Math.round(sinceTickMs) : undefined;
}
