/** Agents that the instrumentation reports: their attributes, and the ones folded into agent `other`. */
import type { AgentSnapshot, Attributes, EventTally } from '../../mapping/index.js';
import type { AgentAttributes } from './agent-attributes.js';
import { AgentSeries, AgentSeriesCache, type EventSeries, type SeriesContext } from './agent-series.js';
import { FOLDED_AGENT, SeriesLimit } from './series-limit.js';

export interface RosterEntry {
  readonly agent: AgentSnapshot;
  readonly series: AgentSeries;
  readonly folded: boolean;
}

interface AgentRosterOptions extends SeriesContext {
  readonly seriesLimit: number;
  readonly agentAttributes: AgentAttributes;
  /** Called once, with the first folded agent. */
  readonly onFold: (agent: string) => void;
}

export class AgentRoster {
  readonly other: AgentSeries;
  readonly limit: SeriesLimit;
  readonly #cache: AgentSeriesCache;
  readonly #onFold: (agent: string) => void;
  readonly #agentAttributes: AgentAttributes;
  #entries: readonly RosterEntry[] = [];
  #byId: ReadonlyMap<number, RosterEntry> = new Map();
  readonly #unsettled = new Set<number>();
  #foldReported = false;

  constructor({ naming, hostname, metrics, seriesLimit, agentAttributes, onFold }: AgentRosterOptions) {
    this.#cache = new AgentSeriesCache({ naming, hostname, metrics, agentAttributes, sticky: true });
    this.other = new AgentSeries(naming, metrics, { agent: FOLDED_AGENT, hostname, ...agentAttributes.shared() });
    this.limit = new SeriesLimit(seriesLimit, Math.max(1, ...metrics.map(({ points }) => points.length)));
    this.#onFold = onFold;
    this.#agentAttributes = agentAttributes;
  }

  get entries(): readonly RosterEntry[] {
    return this.#entries;
  }

  get(id: number): RosterEntry | undefined {
    return this.#byId.get(id);
  }

  /**
   * Replaces the agents by those of a fresh snapshot. Earlier agents have the first claim on series. An agent is left out
   * until its attributes are settled: its sums wait and lose nothing.
   */
  refresh({ agents, takenMs }: { readonly agents: readonly AgentSnapshot[]; readonly takenMs: number }): void {
    const exported: AgentSnapshot[] = [];
    this.#unsettled.clear();
    for (const agent of agents) {
      if (!agent.exported) continue;
      if (this.#byId.has(agent.id) || this.#agentAttributes.settled(agent, takenMs)) exported.push(agent);
      else this.#unsettled.add(agent.id);
    }
    const series = this.#cache.of(exported);
    this.#entries = exported.map((agent, i) => {
      const own = series[i]!;
      own.folded ??= this.#mustFold(agent, own);
      return { agent, series: own, folded: own.folded };
    });
    this.#byId = new Map(this.#entries.map((entry) => [entry.agent.id, entry]));
  }

  unsettled(id: number): boolean {
    return this.#unsettled.has(id);
  }

  /** Returns the event's series, and folds it when its agent can have no further one. */
  event({ series, folded }: RosterEntry, index: number, event: EventTally): EventSeries {
    const one = series.event(index, event);
    one.folded ??= folded || !this.limit.admitsEvent(series.key, one.key);
    return one;
  }

  #mustFold({ agent, events }: AgentSnapshot, { key }: AgentSeries): boolean {
    // An agent that is named "other" shares the series of the folded ones: it must not appear twice.
    if (agent === FOLDED_AGENT) return true;
    let seen = 0;
    for (const { count } of events) if (count > 0) seen++;
    if (this.limit.admits(key, seen)) return false;
    if (!this.#foldReported) this.#onFold(agent);
    this.#foldReported = true;
    return true;
  }
}

/** Returns the attributes of an entry's point: its own, or those of `other`. */
export function pointAttributes(roster: AgentRoster, entry: RosterEntry, metric: number, point: number): Attributes {
  return (entry.folded ? roster.other : entry.series).points[metric]![point]!;
}
