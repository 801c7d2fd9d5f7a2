/** Findings about serve, its receivers, failed transfers and ended agents. Pure. */
import { momentText, spanText } from '../../ground/figures/clock.js';
import { listed, numberText, plural } from '../../ground/figures/figure.js';
import { unreadableFiles } from './problem-findings.js';
import { PRESENT_MS } from './trouble-watch.js';
import type { Finding, VerdictInput } from './types.js';

const MAX_SEPARATE = 3;

export function staleFinding({ origin, takenMs, stale }: VerdictInput): Finding[] {
  if (stale === undefined) return [];
  const { forMs, reason, answered } = stale;
  const why = reason === undefined ? '' : ` (${reason})`;
  const finding = { kind: 'stale', tone: 'bad', shape: 'clock', word: 'Stale', agents: [], sinceMs: takenMs } as const;
  if (origin.kind === 'rings') {
    return [{ ...finding, sentence: `the rings of ${origin.name} have not been read for ${spanText(forMs)}${why}` }];
  }
  if (answered === false) {
    const sentence = `${origin.name} has not answered yet, for ${spanText(forMs)}${why}, so its agents are missing`;
    const advice = 'Check the address, that nixl-otel serve runs there, and the network between.';
    return [{ ...finding, word: 'No answer', sentence, advice }];
  }
  const since = momentText(takenMs, takenMs + forMs);
  const sentence = `no answer from ${origin.name} for ${spanText(forMs)}${why}: the numbers are of ${since}`;
  return [{ ...finding, sentence, advice: 'Check that nixl-otel serve runs there, and the network between.' }];
}

export function noAgentsFinding(input: VerdictInput): Finding[] {
  const { kind, name, directories } = input.origin;
  if (input.agents.length > 0) return [];
  const unreadable = unreadableFiles(input);
  const places = directories.length === 0 ? undefined : listed(directories);
  const looks =
    kind === 'serve' ? `${places === undefined ? name : `serve looks into ${places} and`} has found` : `${name} has`;
  const unread = unreadable === 0 ? '' : `, and ${plural(unreadable, 'file')} cannot be read`;
  const isOne = directories.length === 1 && !/[*?]/.test(directories[0]!);
  const directory = isOne ? ` and NIXL_TELEMETRY_DIR=${directories[0]!}` : '';
  return [
    {
      kind: 'none',
      tone: 'info',
      shape: 'ring',
      word: 'No agents yet',
      sentence: `${looks} no ring of an agent${unread}`,
      advice: `Start agents with NIXL_TELEMETRY_ENABLE=y${directory}. nixl-otel doctor says why one is not seen.`,
      agents: [],
    },
  ];
}

export function failingFinding({ agents, takenMs }: VerdictInput): Finding[] {
  const failing = agents.flatMap((agent) => {
    const errors = agent.troubles?.errors;
    return errors === undefined || agent.life === 'dead' ? [] : [{ agent, errors }];
  });
  if (failing.length === 0) return [];
  failing.sort((a, b) => b.errors.lastMinute - a.errors.lastMinute);
  const sinceMs = Math.min(...failing.map(({ errors }) => errors.sinceMs));
  const lastMinute = failing.reduce((sum, { errors }) => sum + errors.lastMinute, 0);
  // A second at least: all errors of the first sample may have one time.
  const seconds = Math.min(PRESENT_MS, Math.max(1000, takenMs - sinceMs)) / 1000;
  const statuses = new Map<string, number>();
  for (const [status, count] of failing.flatMap(({ errors }) => errors.statuses)) {
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const [most] = [...statuses].find(([, count]) => 2 * count >= all) ?? [];
  const mostly = most === undefined ? '' : `, ${statuses.size === 1 ? 'all' : 'mostly'} ${most}`;
  const { name } = failing[0]!.agent;
  const subject = failing.length === 1 ? name : `${plural(failing.length, 'agent')}, most of all ${name}`;
  const rate = `${numberText(lastMinute / seconds)} errors/s`;
  return [
    {
      kind: 'failing',
      tone: 'bad',
      shape: 'diamond',
      word: 'Transfers fail',
      sentence: `${subject}: ${rate}${mostly}, since ${momentText(sinceMs, takenMs)}`,
      advice: adviceFor(most, failing.length),
      agents: failing.map(({ agent }) => agent.id),
      sinceMs,
    },
  ];
}

/** Causes that NIXL's status names. The log of the agent has the rest. */
const CAUSES: Readonly<Record<string, string>> = {
  remote_disconnect: 'Check that the peers run, and the network to them',
  canceled: 'The program gave these transfers up: its timeouts or its load may be the cause',
  not_posted: 'The transfers were never posted: check the registered memory and the descriptors',
  invalid_param: 'Check the descriptors and parameters that the program passes',
  not_found: 'Check that the peers and the memory are registered',
  mismatch: 'Check that both sides describe the same memory',
  not_allowed: 'Check the permissions of the backend',
  not_supported: 'Check that the backend supports this kind of memory',
  backend: 'Check the backend and its devices',
};

function adviceFor(status: string | undefined, agents: number): string {
  const log = agents === 1 ? "The agent's log has each failure." : "The agents' logs have each failure.";
  const cause = status === undefined ? undefined : CAUSES[status];
  return cause === undefined ? log : `${cause}. ${log}`;
}

export function receiverFindings({ failingExporters = [], takenMs }: VerdictInput): Finding[] {
  return failingExporters.map(({ name, failingSinceMs, reason }) => ({
    kind: 'receiver',
    tone: 'bad',
    shape: 'diamond',
    word: 'Receiver down',
    sentence: `exporter ${name} has failed since ${momentText(failingSinceMs, takenMs)}: ${reason}`,
    advice:
      'Check the receiver and the way to it. serve goes on counting, and its next export has the sums since its start.',
    agents: [],
    sinceMs: failingSinceMs,
  }));
}

export function endedFindings({ ended = [], takenMs }: VerdictInput): Finding[] {
  const finding = { kind: 'ended', tone: 'bad', shape: 'cross', word: 'Agent ended' } as const;
  const how = 'while it was transferring, and left its memory registered';
  if (ended.length <= MAX_SEPARATE) {
    return ended.map(({ id, name, endedMs }) => ({
      ...finding,
      sentence: `${name} ended at ${momentText(endedMs, takenMs)} ${how}`,
      advice: 'Its log and the log of its host say why.',
      agents: [id],
      sinceMs: endedMs,
    }));
  }
  const sinceMs = Math.min(...ended.map(({ endedMs }) => endedMs));
  const since = `${plural(ended.length, 'agent')} ended since ${momentText(sinceMs, takenMs)}`;
  const sentence = `${since} while they were transferring: ${listed(ended.map(({ name }) => name))}`;
  const advice = 'Their logs and the log of their host say why.';
  return [{ ...finding, word: 'Agents ended', sentence, advice, agents: ended.map(({ id }) => id), sinceMs }];
}

export function stateFindings({
  stateProblems = [],
  stateProblemCount = stateProblems.length,
}: VerdictInput): Finding[] {
  const [first] = stateProblems;
  if (first === undefined) return [];
  return [
    {
      kind: 'state',
      tone: 'warn',
      shape: 'triangle',
      word: 'State not kept',
      sentence: `the next serve begins ${plural(stateProblemCount, 'agent')} at 0: ${first.path}: ${first.reason}`,
      advice: 'The sums of this serve are right.',
      agents: [],
    },
  ];
}
