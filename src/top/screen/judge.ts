/** Verdict on a view: states of agents and findings, from what its origins say, or from watching the numbers. */
import { EndWatch } from '../../view/verdict/end-watch.js';
import { withAnnounced } from '../../view/verdict/maintenance.js';
import { MemoryWatch } from '../../view/verdict/memory-watch.js';
import { QuietWatch } from '../../view/verdict/quiet-watch.js';
import { TroubleWatch } from '../../view/verdict/trouble-watch.js';
import type { EndedAgent, Finding, Verdict, VerdictInput } from '../../view/verdict/types.js';
import { firstOf, inOrder, verdictOf } from '../../view/verdict/verdict.js';
import { oneLine } from '../../ground/one-line.js';
import { fullNameOf } from '../selection.js';
import { errorsByStatus, type TopAgent } from '../sampler.js';
import type { ViewPart, FleetView } from '../tracker.js';

export class Judge {
  /** Grows with the statuses that occur. */
  readonly #statuses: string[] = [];
  readonly #troubles = new TroubleWatch(this.#statuses);
  readonly #ends = new EndWatch();
  readonly #quiet = new QuietWatch();
  readonly #memory = new MemoryWatch();
  #sinceMs: number | undefined;

  /** Takes each view once, in order. */
  judge(view: FleetView): Verdict {
    const { takenMs, parts } = view;
    this.#sinceMs ??= takenMs;
    const agents = view.rows.map(({ agent }) => agent).filter(({ unused }) => !unused);
    const rings = new Set(parts.filter(({ facts }) => facts.origin.kind === 'rings').map(({ host }) => host));
    const watched = this.#watched(takenMs, agents, ({ host }) => rings.has(host));
    const inputs = parts.map(({ host, facts }): VerdictInput => {
      const own = watched.filter((agent) => agent.host === host);
      const ids = new Set(own.map(({ id }) => id));
      const ended = this.#ends.ended.filter(({ id }) => ids.has(String(id)));
      return { takenMs, observedSinceMs: this.#sinceMs!, ended, ...facts, agents: own };
    });
    return inputs.length === 1 ? withComplaints(verdictOf(inputs[0]!), parts) : ofHosts(inputs, parts);
  }

  /**
   * Returns the agents, those whose origin does not watch for troubles itself with what was seen here. `isRing`: true for an
   * agent whose counts begin with their observation, so that all of them are recent.
   */
  #watched(takenMs: number, agents: readonly TopAgent[], isRing: (agent: TopAgent) => boolean): readonly TopAgent[] {
    const named = agents.map((agent) =>
      agent.troubles === undefined ? { ...agent, name: oneLine(fullNameOf({ agent })) } : agent,
    );
    this.#ends.observe(takenMs, named);
    this.#quiet.observe(takenMs, named);
    this.#memory.observe(takenMs, named);
    const troubles = this.#troubles.observe(
      takenMs,
      named.map((agent) => this.#countsOf(agent, isRing(agent))),
    );
    return named.map((agent) =>
      agent.troubles === undefined
        ? {
            ...agent,
            endedMs: this.#ends.endedMs(agent.id),
            quietSinceMs: this.#quiet.sinceMs(agent.id),
            memoryGrowth: this.#memory.growth(agent.id),
            failedMs: this.#troubles.failedMs(agent.id),
            troubles: troubles.get(agent.id),
          }
        : agent,
    );
  }

  #countsOf(agent: TopAgent, isRing: boolean) {
    const { id, lost, dropped, foundFull: full, undrained, lapped } = agent;
    const byStatus = errorsByStatus(agent);
    for (const status of Object.keys(byStatus)) if (!this.#statuses.includes(status)) this.#statuses.push(status);
    const errors = this.#statuses.map((status) => byStatus[status] ?? 0);
    const startTimeMs = isRing ? Infinity : agent.startTimeMs;
    return { id, startTimeMs, counts: { lost, dropped, full, undrained, lapped, errors } };
  }
}

/** Joins the agents of all hosts. Hosts without an answer come first: their numbers are missing in all others. */
function ofHosts(given: readonly VerdictInput[], parts: readonly ViewPart[]): Verdict {
  // Names are those of each host.
  const inputs = given.map(withAnnounced);
  const [{ origin, takenMs, observedSinceMs }] = inputs as [VerdictInput, ...VerdictInput[]];
  const agents = inputs.flatMap((input) => input.agents);
  const ended: EndedAgent[] = inputs.flatMap((input) => input.ended ?? []);
  const sum = (count: (input: VerdictInput) => number | undefined): number =>
    inputs.reduce((all, input) => all + (count(input) ?? 0), 0);
  const name = inputs.map((input) => input.origin.name).join(', ');
  const joined = verdictOf({
    origin: { kind: origin.kind, name, directories: [] },
    takenMs,
    observedSinceMs,
    agents,
    ended: ended.toSorted((a, b) => b.endedMs - a.endedMs),
    problems: inputs.flatMap(({ problems = [] }) => problems),
    problemCount: sum(({ problemCount, problems }) => problemCount ?? problems?.length),
    failingExporters: inputs.flatMap((input) => input.failingExporters ?? []),
    slowness: inputs.flatMap((input) => input.slowness ?? []),
    unjudged: sum(({ unjudged }) => unjudged),
    stateProblems: inputs.flatMap(({ stateProblems = [] }) => stateProblems),
    stateProblemCount: sum(({ stateProblemCount, stateProblems }) => stateProblemCount ?? stateProblems?.length),
  });
  const stale = inputs.flatMap((input) => (input.stale === undefined ? [] : [verdictOf(input).first]));
  return withComplaints(withFindings(joined, [...stale, ...joined.findings]), parts);
}

function withComplaints(verdict: Verdict, parts: readonly ViewPart[]): Verdict {
  const complaints = parts.flatMap(({ facts }) => facts.complaints ?? []);
  const found = complaints.map((text): Finding => {
    const agents: string[] = [];
    return { kind: 'problem', tone: 'warn', shape: 'triangle', word: 'Not readable', sentence: oneLine(text), agents };
  });
  // A directory that cannot be read is the reason for the lack of agents.
  const isFirst = verdict.first.kind === 'none';
  return withFindings(verdict, isFirst ? [...found, ...verdict.findings] : [...verdict.findings, ...found]);
}

function withFindings(verdict: Verdict, findings: readonly Finding[]): Verdict {
  return { ...verdict, findings: inOrder(findings), first: firstOf(findings) ?? verdict.first };
}
