/** Agents that the instrumentation reports, with their attributes: separately, or folded into agent `other`. */
import type { AgentSnapshot, Attributes, EventTally, Metric } from '../../mapping/index.js';
import type { AgentAttributes } from './agent-attributes.js';
import { AgentSeries, AgentSeriesCache, type EventSeries, type SeriesContext } from './agent-series.js';

/** Name of the agent under which all folded agents are reported. */
const FOLDED_AGENT = 'other';

/** Most event keys of `other` in each instrument: 1900 + 90 stay below the SDK's 2000. */
const MAX_FOLDED_EVENTS = 90;

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
  /** Metrics with series per event. */
  readonly #ofEvents: readonly Metric[];
  #entries: readonly RosterEntry[] = [];
  #byId: ReadonlyMap<number, RosterEntry> = new Map();
  readonly #unsettled = new Set<number>();
  #foldReported = false;

  constructor({ naming, hostname, metrics, seriesLimit, agentAttributes, onFold }: AgentRosterOptions) {
    this.#cache = new AgentSeriesCache({ naming, hostname, metrics, agentAttributes, sticky: true });
    this.other = new AgentSeries(naming, metrics, { agent: FOLDED_AGENT, hostname, ...agentAttributes.shared() });
    const mostPoints = (some: readonly Metric[]): number => Math.max(0, ...some.map(({ points }) => points.length));
    this.#ofEvents = metrics.filter(({ perEvent }) => perEvent !== undefined);
    this.limit = new SeriesLimit({
      limit: seriesLimit,
      widest: Math.max(1, mostPoints(metrics)),
      besideEvents: mostPoints(this.#ofEvents),
    });
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
   * until its attributes are settled. Its sums continue to grow, so nothing is lost.
   */
  refresh({ agents, takenMs }: { readonly agents: readonly AgentSnapshot[]; readonly takenMs: number }): void {
    this.#agentAttributes.number(agents);
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

  /** Returns the event's series, and folds it if its agent can have no further series. */
  event({ series, folded }: RosterEntry, index: number, event: EventTally): EventSeries {
    const one = series.event(index, event);
    one.folded ??= folded || !this.limit.admitsEvent(series.key, one.key);
    return one;
  }

  #mustFold({ agent, events }: AgentSnapshot, { key }: AgentSeries): boolean {
    // An agent with the name "other" shares the series of the folded agents: no series must appear twice.
    if (agent === FOLDED_AGENT) return true;
    const withSeries = events.filter((event) => this.#ofEvents.some(({ perEvent }) => perEvent!.applies(event)));
    if (this.limit.admits(key, withSeries.length)) return false;
    if (!this.#foldReported) this.#onFold(agent);
    this.#foldReported = true;
    return true;
  }
}

/** Returns the attributes of an entry's point: its own, or those of `other`. */
export function pointAttributes(roster: AgentRoster, entry: RosterEntry, metric: number, point: number): Attributes {
  return (entry.folded ? roster.other : entry.series).points[metric]![point]!;
}

/**
 * Limit of the agents with separate series. The SDK keeps at most 2000 series per instrument, reports further ones of
 * observable instruments wrongly, and never forgets a series, even after its agent is gone.
 */
export class SeriesLimit {
  readonly #limit: number;
  readonly #maxAgents: number;
  readonly #besideEvents: number;
  /** Events with a series, by admitted agent. Never shrinks, because the SDK's memory does not. */
  readonly #admitted = new Map<string, Set<string>>();
  readonly #foldedEvents = new Set<string>();
  #eventSeries = 0;

  /**
   * `widest`: the most series of one agent in one instrument, without events. `besideEvents`: the most of them in an
   * instrument that has events, too.
   */
  constructor({ limit, widest, besideEvents }: Readonly<Record<'limit' | 'widest' | 'besideEvents', number>>) {
    this.#limit = limit;
    this.#maxAgents = Math.floor(limit / widest);
    this.#besideEvents = besideEvents;
  }

  /** `agent`: key of its series. `events`: number of event series that it needs at once. */
  admits(agent: string, events: number): boolean {
    if (this.#admitted.has(agent)) return true;
    if (this.#admitted.size >= this.#maxAgents) return false;
    if (this.#usedBeside(this.#admitted.size + 1) + events > this.#limit) return false;
    this.#admitted.set(agent, new Set());
    return true;
  }

  /** Returns false if there is no room for the event: `other` then reports it, without its agent. */
  admitsEvent(agent: string, event: string): boolean {
    const events = this.#admitted.get(agent);
    if (events === undefined) return false;
    if (events.has(event)) return true;
    if (this.#usedBeside(this.#admitted.size) >= this.#limit) return false;
    events.add(event);
    this.#eventSeries++;
    return true;
  }

  /** Returns the number of series in an instrument with events. */
  #usedBeside(agents: number): number {
    return agents * this.#besideEvents + this.#eventSeries;
  }

  /** Returns false when `other` has so many events that this one must share the overflow key. */
  admitsFoldedEvent(event: string): boolean {
    if (this.#foldedEvents.size >= MAX_FOLDED_EVENTS && !this.#foldedEvents.has(event)) return false;
    this.#foldedEvents.add(event);
    return true;
  }
}
