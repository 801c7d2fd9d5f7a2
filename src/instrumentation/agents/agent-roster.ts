/** The agents that the instrumentation reports: the attributes of each, and who is folded into agent `other`. */
import { type AgentSnapshot, type Attributes, type EventTally, type Metric, type Naming } from '../../mapping/index.js';
import type { AgentAttributes } from './agent-attributes.js';
import { AgentSeries, AgentSeriesCache, type EventSeries } from './agent-series.js';
import { FOLDED_AGENT, SeriesLimit } from './series-limit.js';

export interface RosterEntry {
  readonly agent: AgentSnapshot;
  readonly series: AgentSeries;
  readonly folded: boolean;
}

export interface AgentRosterOptions {
  readonly naming: Naming;
  readonly hostname: string;
  readonly metrics: readonly Metric[];
  readonly seriesLimit: number;
  readonly agentAttributes: AgentAttributes;
  /** Called once, with the first agent that is folded. */
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
  #saidSo = false;

  constructor({ naming, hostname, metrics, seriesLimit, agentAttributes, onFold }: AgentRosterOptions) {
    this.#cache = new AgentSeriesCache({ naming, hostname, metrics, agentAttributes, sticky: true });
    this.other = new AgentSeries(naming, metrics, {
      agent: FOLDED_AGENT,
      hostname,
      ...agentAttributes.shared(),
    });
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
   * Takes the agents of a fresh snapshot; first come, first served with series. An agent whose attributes are not settled
   * yet stays out: its sums wait, and lose nothing by it.
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

  /** The event's series, with the decision whether its agent can have it. */
  event({ series, folded }: RosterEntry, index: number, event: EventTally): EventSeries {
    const one = series.event(index, event);
    one.folded ??= folded || !this.limit.admitsEvent(series.key, one.words);
    return one;
  }

  #mustFold({ agent, events }: AgentSnapshot, { key }: AgentSeries): boolean {
    // An agent that is really called "other" shares the series of the folded ones from the start: it must not appear twice.
    if (agent === FOLDED_AGENT) return true;
    let seen = 0;
    for (const { count } of events) if (count > 0) seen++;
    if (this.limit.admits(key, seen)) return false;
    if (!this.#saidSo) this.#onFold(agent);
    this.#saidSo = true;
    return true;
  }
}

/** Attributes of an entry's point: its own, or those of `other`. */
export function pointAttributes(roster: AgentRoster, entry: RosterEntry, metric: number, point: number): Attributes {
  return (entry.folded ? roster.other : entry.series).points[metric]![point]!;
}
