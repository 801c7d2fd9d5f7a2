/** Verdict on a view: states of agents and findings, from what its origins say, or from watching the numbers. */
import { EndWatch } from '../../verdict/end-watch.js';
import { TroubleWatch } from '../../verdict/trouble-watch.js';
import type { AgentFacts, EndedAgent, Finding, Troubles, Verdict, VerdictInput } from '../../verdict/types.js';
import { verdictOf } from '../../verdict/verdict.js';
import { oneLine } from '../../../one-line.js';
import { nameOf } from '../selection.js';
import type { Part, Row, View } from '../tracker.js';

export class Judge {
  /** Grows with the statuses that occur. */
  readonly #statuses: string[] = [];
  readonly #troubles = new TroubleWatch(this.#statuses);
  readonly #ends = new EndWatch();
  #sinceMs: number | undefined;

  /** Takes each view once, in order. */
  judge(view: View): Verdict {
    const { takenMs, parts } = view;
    this.#sinceMs ??= takenMs;
    const rows = view.rows.filter(({ totals }) => !totals.unused);
    const rings = new Set(parts.filter(({ facts }) => facts.origin.kind === 'rings').map(({ host }) => host));
    const troubles = this.#observe(takenMs, rows, (row) => rings.has(row.totals.host));
    const inputs = parts.map((part): VerdictInput => {
      const own = rows.filter(({ totals }) => totals.host === part.host);
      const ids = new Set<number | string>(own.map(({ totals }) => totals.id));
      const agents = own.map((row) => this.#factsOf(row, troubles));
      const ended = this.#ends.ended.filter(({ id }) => ids.has(id));
      return { takenMs, observedSinceMs: this.#sinceMs!, agents, ended, ...part.facts };
    });
    return inputs.length === 1 ? withComplaints(verdictOf(inputs[0]!), parts) : ofHosts(inputs, parts);
  }

  /** `isRing`: true for a row whose counts begin with their observation, so that all of them are recent. */
  #observe(
    takenMs: number,
    rows: readonly Row[],
    isRing: (row: Row) => boolean,
  ): ReadonlyMap<number | string, Troubles> {
    this.#ends.observe(takenMs, rows.map(mortalOf));
    const counted = rows.map((row) => {
      const { id, lost, troubles, errorsByStatus = {} } = row.totals;
      const startTimeMs = isRing(row) ? Infinity : row.totals.startTimeMs;
      for (const status of Object.keys(errorsByStatus)) {
        if (!this.#statuses.includes(status)) this.#statuses.push(status);
      }
      const errors = this.#statuses.map((status) => errorsByStatus[status] ?? 0);
      const counts = { dropped: lost, ...troubles, errors };
      return { id, counts, ...(startTimeMs === undefined ? {} : { startTimeMs }) };
    });
    return this.#troubles.observe(takenMs, counted);
  }

  #factsOf({ totals, ...row }: Row, troubles: ReadonlyMap<number | string, Troubles>): AgentFacts {
    const { id, life, idleMs, capacity } = totals;
    const endedMs = this.#ends.endedMs(id);
    return {
      id,
      name: oneLine(nameOf({ totals, ...row })),
      life,
      ...(idleMs === undefined ? {} : { idleMs }),
      ...(endedMs === undefined ? {} : { endedMs }),
      ...(capacity === undefined ? {} : { capacity }),
      troubles: troubles.get(id) ?? {},
    };
  }
}

function mortalOf(row: Row) {
  const { id, life, requests, memoryBytes = 0, memoryApproximate = true } = row.totals;
  return { id, name: oneLine(nameOf(row)), life, requests: Number(requests), memoryBytes, memoryApproximate };
}

/** Joins the agents of all hosts. Hosts without an answer come first: their numbers are missing in all others. */
function ofHosts(inputs: readonly VerdictInput[], parts: readonly Part[]): Verdict {
  const [{ origin, takenMs, observedSinceMs }] = inputs as [VerdictInput, ...VerdictInput[]];
  const agents: AgentFacts[] = inputs.flatMap((input) => input.agents);
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
    stateProblems: inputs.flatMap(({ stateProblems = [] }) => stateProblems),
    stateProblemCount: sum(({ stateProblemCount, stateProblems }) => stateProblemCount ?? stateProblems?.length),
  });
  const stale = inputs.flatMap((input) => (input.stale === undefined ? [] : [verdictOf(input).first]));
  return withComplaints(withFindings(joined, [...stale, ...joined.findings]), parts);
}

function withComplaints(verdict: Verdict, parts: readonly Part[]): Verdict {
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
  return { ...verdict, findings, first: findings[0] ?? verdict.first };
}
