/** The finding about transfers that fail. Errors of agents that ended count. Pure. */
import { momentText } from '../../ground/figures/clock.js';
import { numberText, plural, wholeText } from '../../ground/figures/figure.js';
import { type AgentModel, errorsOf, requestsOf, type Troubles } from '../model/agent-model.js';
import { PRESENT_MS } from './trouble-watch.js';
import type { Finding, VerdictInput } from './types.js';

/** Fewer failures in a minute have no rate: that of a single one would fall from one a second to none. */
const RATE_FROM = 10;

interface Failing {
  readonly agent: AgentModel;
  readonly errors: NonNullable<Troubles['errors']>;
}

export function failingFinding({ agents, takenMs }: VerdictInput): Finding[] {
  const failing = agents.flatMap((agent): Failing[] => {
    const errors = agent.troubles?.errors;
    return errors === undefined ? [] : [{ agent, errors }];
  });
  if (failing.length === 0) return [];
  failing.sort((a, b) => b.errors.lastMinute - a.errors.lastMinute);
  const [most, mostly] = mostFrequent(failing);
  const { name } = failing[0]!.agent;
  const count = failing.reduce((sum, { errors }) => sum + errors.count, 0);
  const subject = failing.length === 1 ? name : `${plural(failing.length, 'agent')}, most of all ${name}`;
  return [
    {
      kind: 'failing',
      tone: 'bad',
      shape: 'diamond',
      word: 'Transfers fail',
      sentence: `${subject}: ${failuresText(failing, mostly, takenMs)}`,
      advice: adviceFor(most, failing.length),
      agents: failing.map(({ agent }) => agent.id),
      sinceMs: Math.min(...failing.map(({ errors }) => errors.sinceMs)),
      size: { value: count, text: plural(count, 'failure') },
    },
  ];
}

function failuresText(failing: readonly Failing[], mostly: string, takenMs: number): string {
  const sum = (count: (one: Failing) => number): number => failing.reduce((all, one) => all + count(one), 0);
  const sinceMs = Math.min(...failing.map(({ errors }) => errors.sinceMs));
  const count = sum(({ errors }) => errors.count);
  const all = Math.max(
    count,
    sum(({ agent }) => errorsOf(agent)),
  );
  const done = sum(({ agent }) => requestsOf(agent));
  const ofAll = `${wholeText(all)} of ${plural(all + done, 'transfer')}`;
  const lastMinute = sum(({ errors }) => errors.lastMinute);
  if (lastMinute >= RATE_FROM) {
    // A second at least: all errors of the first sample may have one time.
    const seconds = Math.min(PRESENT_MS, Math.max(1000, takenMs - sinceMs)) / 1000;
    const rate = `${numberText(lastMinute / seconds)} errors/s${mostly}, since ${momentText(sinceMs, takenMs)}`;
    return done === 0 ? `${rate}: ${ofAll} failed, nothing was ever transferred` : rate;
  }
  const lastMs = Math.max(...failing.map(({ errors }) => errors.lastMs));
  const last = `${count === 1 ? 'at' : 'the last at'} ${momentText(lastMs, takenMs)}`;
  if (all === count) return `${ofAll} failed${mostly}, ${last}`;
  return `${plural(count, 'transfer')} failed${mostly}, ${last}; ${ofAll} since the sums began`;
}

/** Returns the status of at least half of the failures, and words about it. */
function mostFrequent(failing: readonly Failing[]): [status: string | undefined, text: string] {
  const statuses = new Map<string, number>();
  for (const [status, count] of failing.flatMap(({ errors }) => errors.statuses)) {
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const [most] = [...statuses].find(([, count]) => 2 * count >= all) ?? [];
  if (most === undefined) return [undefined, ''];
  return [most, statuses.size > 1 ? `, mostly ${most}` : all > 1 ? `, all ${most}` : ` (${most})`];
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
