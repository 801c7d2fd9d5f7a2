/** Findings about serve and its receivers. Pure. */
import { momentText, spanText } from '../../ground/figures/clock.js';
import { listed, plural } from '../../ground/figures/figure.js';
import { unreadableFiles } from './problem-findings.js';
import type { Finding, VerdictInput } from './types.js';

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
