/** Attribute objects of each agent, made once per agent and not once per collect. */
import {
  agentAttributes,
  type AgentIdentity,
  type AgentSnapshot,
  ambiguousNames,
  type Attributes,
  type EventIdentity,
  type EventTally,
  type EventLabels,
  eventLabels,
  infoAttributes,
  type Labels,
  type Metric,
  type Naming,
  sameEvent,
  withLabels,
} from '../../mapping/index.js';
import { madeOnce } from '../../ground/maps.js';
import type { AgentAttributes } from './agent-attributes.js';

/** Series of one event key of one agent. */
export interface EventSeries {
  readonly attributes: Attributes;
  /** Category and event in one string: unique within an agent. */
  readonly key: string;
  /** Set by the roster: this event is reported under agent `other`. */
  folded?: boolean;
}

interface KeyedSeries {
  /** Not the event: that of a kept snapshot keeps all its words in memory. */
  readonly event: EventIdentity;
  readonly series: EventSeries;
}

/** One agent's attributes: per metric and point, and per event key. */
export class AgentSeries {
  readonly identity: AgentIdentity;
  /** Unique among the series that the SDK keeps. */
  readonly key: string;
  /** `key` without the labels that only NIXL's own series have. */
  readonly #sharedKey: string;
  /** Set by the roster: this agent is reported under agent `other`. */
  folded?: boolean;
  /** `points[m][p]` belongs to `metrics[m].points[p]`. */
  readonly points: readonly (readonly Attributes[])[];
  readonly #naming: Naming;
  readonly #base: Attributes;
  readonly #events: KeyedSeries[] = [];
  /** Parallel to the last agent.events. Keys are only appended there, so an index nearly always has the same key. */
  readonly #byIndex: KeyedSeries[] = [];
  readonly #eventKeys = new Set<string>();

  readonly #frozen: boolean;

  constructor(naming: Naming, metrics: readonly Metric[], identity: AgentIdentity, frozen = false) {
    const base = agentAttributes(naming, identity);
    const ofNixl = { ...base, ...identity.nixlLabels };
    this.identity = identity;
    this.key = seriesKey(ofNixl);
    this.#sharedKey = seriesKey(base);
    this.#naming = naming;
    this.#base = base;
    this.#frozen = frozen;
    const [merged, mergedOfNixl] = [new Map<Labels, Attributes>(), new Map<Labels, Attributes>()];
    this.points = metrics.map(({ points, isNixlSeries = false, isInfo = false }) => {
      if (isInfo) return points.map(() => this.#lasting(infoAttributes(naming, base, identity)));
      const [own, known] = isNixlSeries ? [ofNixl, mergedOfNixl] : [base, merged];
      return points.map(({ labels }) => madeOnce(known, labels, () => this.#lasting(withLabels(naming, own, labels))));
    });
  }

  /** Returns the key of this agent's series of a metric: NIXL's own series have more labels. */
  keyOf({ isNixlSeries = false }: Pick<Metric, 'isNixlSeries'>): string {
    return isNixlSeries ? this.key : this.#sharedKey;
  }

  event(index: number, event: EventTally): EventSeries {
    const cached = this.#byIndex[index];
    if (cached !== undefined && sameEvent(cached.event, event)) return cached.series;
    let keyed = this.#events.find((other) => sameEvent(other.event, event));
    if (keyed === undefined) {
      const { type, name, category, overflow } = event;
      keyed = { event: { type, name, category, overflow } as EventIdentity, series: this.#newEvent(event, index) };
      this.#events.push(keyed);
    }
    this.#byIndex[index] = keyed;
    return keyed.series;
  }

  withEvent(labels: Labels): Attributes {
    return this.#lasting(withLabels(this.#naming, this.#base, labels));
  }

  #lasting(attributes: Attributes): Attributes {
    return this.#frozen ? Object.freeze(attributes) : attributes;
  }

  /** Names that differ only in bytes that are not UTF-8 decode to the same text, so the second gets a number. */
  #newEvent(event: EventTally, index: number): EventSeries {
    let labels = eventLabels(event);
    if (this.#eventKeys.has(eventKey(labels))) labels = { ...labels, event: `${labels.event}#${index}` };
    const key = eventKey(labels);
    this.#eventKeys.add(key);
    return { attributes: this.withEvent(labels), key };
  }
}

/** Returns the same key for the same attributes in any order. */
export function seriesKey(attributes: Attributes): string {
  return JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a key that is unique among the events of one agent. */
export function eventKey({ category, event }: EventLabels): string {
  return `${category}\0${event}`;
}

/** Metrics to make series of, and the naming of their attributes. */
export interface SeriesContext {
  readonly naming: Naming;
  readonly hostname: string;
  readonly metrics: readonly Metric[];
}

export interface AgentSeriesOptions extends SeriesContext {
  readonly agentAttributes: AgentAttributes;
  /**
   * Keeps the first attributes of an agent, also when another agent of its name appears: the SDK would export the old
   * series beside the new one. If not sticky, two agents of one name both get their directory, and an agent that returns
   * in another process gets the attributes of that process.
   */
  readonly sticky: boolean;
  /** Freezes attributes, so that a page can keep what it makes of them. A service's exporter may add to its own. Default: false. */
  readonly frozen?: boolean;
}

export class AgentSeriesCache {
  readonly #options: AgentSeriesOptions;
  readonly #byId = new Map<number, AgentSeries>();

  readonly #hasInfo: boolean;

  constructor(options: AgentSeriesOptions) {
    this.#options = options;
    this.#hasInfo = options.metrics.some(({ isInfo }) => isInfo);
  }

  /** Returns series parallel to `agents` and forgets all other agents. */
  of(agents: readonly AgentSnapshot[]): AgentSeries[] {
    const ambiguous = ambiguousNames(agents);
    const all = agents.map((agent) => {
      const series = this.#seriesOf(agent, ambiguous.has(agent.agent) ? agent.directory : undefined);
      this.#byId.set(agent.id, series);
      return series;
    });
    if (this.#byId.size > agents.length) this.#forgetAllBut(agents);
    this.#options.agentAttributes.keep(agents);
    return all;
  }

  #forgetAllBut(agents: readonly AgentSnapshot[]): void {
    const ids = new Set(agents.map(({ id }) => id));
    for (const id of this.#byId.keys()) if (!ids.has(id)) this.#byId.delete(id);
  }

  #seriesOf(agent: AgentSnapshot, directory: string | undefined): AgentSeries {
    const { naming, hostname, metrics, sticky, frozen, agentAttributes } = this.#options;
    const before = this.#byId.get(agent.id);
    if (before !== undefined && sticky) return before;
    const { attributes, nixlLabels } = agentAttributes.resolved(agent);
    const engine = this.#hasInfo ? agentAttributes.identities.of(agent) : undefined;
    const ways = this.#hasInfo ? agentAttributes.waysOf(agent.id) : undefined;
    const known = before?.identity;
    const isSame = known?.attributes === attributes && known.nixlLabels === nixlLabels && known.engine === engine;
    if (isSame && known.directory === directory && known.ways === ways) return before!;
    const identity = { agent: agent.agent, hostname, directory, attributes, nixlLabels, engine, ways, pid: agent.pid };
    return new AgentSeries(naming, metrics, identity, frozen);
  }
}
