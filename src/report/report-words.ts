/** Sentences of a report, the same in all of its forms. Pure. */
import { intervalText } from '../ground/figures/clock.js';
import { binaryText, bytesText, listed, numberText, plural, timeText } from '../ground/figures/figure.js';
import { oneLine } from '../ground/one-line.js';
import { errorsOf } from '../view/model/agent-model.js';
import type { ReportedAgent, RunReport } from './run-report.js';

/** `python3 bench.py ended with exit code 0 after 12.4 s` */
export function outcomeText({ run, takenMs }: RunReport): string {
  const command = run.command.length === 0 ? 'a command that is not known' : oneLine(run.command.join(' '));
  if (run.endMs === undefined) {
    return `${command}: its end was not seen, because run was killed; figures up to ${timeText((takenMs - run.beginMs) * 1000)} after its begin`;
  }
  const how = run.signal === undefined ? `ended with exit code ${run.exitCode}` : `was ended by ${run.signal}`;
  return `${command} ${how} after ${timeText((run.endMs - run.beginMs) * 1000)}`;
}

/** How an agent ended: for a cell. */
export function endText({ life, endedMs }: ReportedAgent): string {
  if (life === 'alive') return 'still runs';
  return life === 'dead' || endedMs !== undefined ? 'ended' : 'not seen';
}

/** Returns what to check if there is no agent; undefined if there are some. */
export function noAgentText({ agents }: RunReport): string | undefined {
  if (agents.length > 0) return undefined;
  return (
    'No NIXL agent wrote a ring. Check that the command uses NIXL at all, that its NIXL is 0.5.1 or newer (telemetry is off ' +
    'in builds without it), that it passes its environment on to its children (sudo, ssh, docker and Slurm do not by ' +
    'themselves), and that it sets no NIXL_TELEMETRY_* variables itself. nixl-otel doctor finds more while it runs.'
  );
}

/** What was lost, or that nothing was. Empty without agents. */
export function lossTexts({ agents, problems, errorStatuses: _, ...report }: RunReport): readonly string[] {
  if (agents.length === 0) return problems.map(problemText);
  const lossy = agents.filter(({ lost, foundFull = 0, suspect }) => lost > 0 || foundFull > 0 || suspect);
  const cut = agents.filter(({ mayMissMs }) => mayMissMs !== undefined);
  const running = agents.filter(({ life }) => life === 'alive');
  const texts = [...lossy.map(lossText), ...problems.map(problemText)];
  if (cut.length > 0) {
    const longestMs = Math.max(...cut.map(({ mayMissMs }) => mayMissMs!));
    texts.push(
      `${listed(cut.map(({ name }) => name))} ended without a rest: up to ${intervalText(longestMs)} before its end may be missing, ` +
        'because an agent that ends does not write its last events.',
    );
  }
  if (running.length > 0) {
    texts.push(
      `${listed(running.map(({ name }) => name))} still ran at the time of this report, which has what was written until then.`,
    );
  }
  if (texts.length > 0)
    return lossy.length + problems.length > 0 ? texts : ['Nothing else was lost.', ...texts].toReversed();
  return report.run.endMs === undefined ? ['Nothing was lost of what the rings were given.'] : ['Nothing was lost.'];
}

function lossText({ name, lost, foundFull = 0, suspect }: ReportedAgent): string {
  const parts = [
    ...(lost > 0 ? [`at least ${plural(lost, 'event')} lost`] : []),
    ...(foundFull > 0 ? [`its ring was found full ${plural(foundFull, 'time')}`] : []),
    ...(suspect ? ['its numbers may be wrong: several processes wrote or read its ring'] : []),
  ];
  return `${name}: ${parts.join('; ')}.`;
}

function problemText({ path, state, reason }: RunReport['problems'][number]): string {
  return `${oneLine(path)} is not in the figures: ${state}, ${oneLine(reason)}.`;
}

/** `agent-0: 38.0 s (tx, 4 KiB)` */
export function firstTransferText({ name, firstTransfer }: ReportedAgent): string | undefined {
  if (firstTransfer === undefined) return undefined;
  const { direction, bytes, timeUs } = firstTransfer;
  const size = bytes % 1024 === 0 ? binaryText(bytes) : bytesText(bytes);
  return `${name} ${timeText(timeUs)} (${direction}, ${size})`;
}

/** `agent-0: 3 backend, 1 not_found` */
export function errorsText(agent: ReportedAgent, statuses: readonly string[]): string | undefined {
  if (errorsOf(agent) === 0) return undefined;
  const parts = agent.errors.flatMap((count, i) =>
    count > 0 ? [`${numberText(count)} ${statuses[i] ?? `status ${i}`}`] : [],
  );
  return `${agent.name} ${parts.join(', ')}`;
}

/** `agent-0 1.20 GB at its peak, 0 left registered` */
export function memoryText({
  name,
  memoryPeakBytes,
  memoryBytes = 0,
  memoryApproximate,
}: ReportedAgent): string | undefined {
  if (!memoryPeakBytes && memoryBytes === 0) return undefined;
  const peak = memoryPeakBytes === undefined ? '' : `${bytesText(memoryPeakBytes)} at its peak, `;
  const left = memoryBytes === 0 ? 'nothing left registered' : `${bytesText(memoryBytes)} left registered`;
  return `${name} ${peak}${left}${memoryApproximate === true ? ' (approximately)' : ''}`;
}
