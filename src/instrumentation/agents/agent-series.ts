/** The attribute objects of each agent, made once per agent and not once per collect. */
import {
  agentAttributes,
  type AgentIdentity,
  type AgentSnapshot,
  ambiguousNames,
  type Attributes,
  type EventTally,
  type EventLabels,
  eventLabels,
  type Labels,
  type Metric,
  type Naming,
  sameEvent,
  withLabels,
} from '../../mapping/index.js';
import type { AgentAttributes } from './agent-attributes.js';

/** The series of one event key of one agent. */
export interface EventSeries {
  readonly attributes: Attributes;
  /** Category and event in one string. */
  readonly words: string;
  /** Set by the roster: this event is reported under agent `other`. */
  folded?: boolean;
}

interface KeyedSeries {
  /** The reading that the series was made for: only its key counts. */
  readonly event: EventTally;
  readonly series: EventSeries;
}

/** One agent's attributes: per metric and point, and per event key. */
export class AgentSeries {
  readonly directory: string | undefined;
  /** The configured ones: another object once they change. */
  readonly attributes: Attributes | undefined;
  readonly nixlLabels: Attributes | undefined;
  /** Tells this agent's series from all others that the SDK keeps. */
  readonly key: string;
  /** The same without the labels that only NIXL's own series have. */
  readonly #sharedKey: string;
  /** Set by the roster: this agent is reported under agent `other`. */
  folded?: boolean;
  /** `points[m][p]` belongs to `metrics[m].points[p]`. */
  readonly points: readonly (readonly Attributes[])[];
  readonly #naming: Naming;
  readonly #base: Attributes;
  readonly #events: KeyedSeries[] = [];
  /** Beside agent.events, as they stood last: keys are appended there, so that this is nearly always right. */
  readonly #byIndex: KeyedSeries[] = [];
  readonly #eventWords = new Set<string>();

  constructor(naming: Naming, metrics: readonly Metric[], identity: AgentIdentity) {
    const base = agentAttributes(naming, identity);
    this.directory = identity.directory;
    const ofNixl = { ...base, ...identity.nixlLabels };
    this.attributes = identity.attributes;
    this.nixlLabels = identity.nixlLabels;
    this.key = seriesKey(ofNixl);
    this.#sharedKey = seriesKey(base);
    this.#naming = naming;
    this.#base = base;
    const merged = { base: new Map<Labels, Attributes>(), ofNixl: new Map<Labels, Attributes>() };
    this.points = metrics.map(({ points, isNixlSeries = false }) =>
      points.map(({ labels }) => {
        const known = isNixlSeries ? merged.ofNixl : merged.base;
        let attributes = known.get(labels);
        if (attributes === undefined) {
          known.set(labels, (attributes = withLabels(naming, isNixlSeries ? ofNixl : base, labels)));
        }
        return attributes;
      }),
    );
  }

  /** Key of this agent's series of a metric: NIXL's own series have more labels. */
  keyOf({ isNixlSeries = false }: Pick<Metric, 'isNixlSeries'>): string {
    return isNixlSeries ? this.key : this.#sharedKey;
  }

  event(index: number, event: EventTally): EventSeries {
    const atItsPlace = this.#byIndex[index];
    if (atItsPlace !== undefined && sameEvent(atItsPlace.event, event)) return atItsPlace.series;
    let keyed = this.#events.find((other) => sameEvent(other.event, event));
    if (keyed === undefined) this.#events.push((keyed = { event, series: this.#newEvent(event, index) }));
    this.#byIndex[index] = keyed;
    return keyed.series;
  }

  withEvent(labels: Labels): Attributes {
    return withLabels(this.#naming, this.#base, labels);
  }

  /** Names that differ only in bytes that are not UTF-8 read the same: two series must not. */
  #newEvent(event: EventTally, index: number): EventSeries {
    let labels = eventLabels(event);
    if (this.#eventWords.has(wordsOf(labels))) labels = { ...labels, event: `${labels.event}#${index}` };
    const words = wordsOf(labels);
    this.#eventWords.add(words);
    return { attributes: this.withEvent(labels), words };
  }
}

/** The same for the same attributes, in whatever order. */
export function seriesKey(attributes: Attributes): string {
  return JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What tells the events of one agent apart, as one text. */
export function wordsOf({ category, event }: EventLabels): string {
  return `${category}\0${event}`;
}

export interface AgentSeriesOptions {
  readonly naming: Naming;
  readonly hostname: string;
  readonly metrics: readonly Metric[];
  readonly agentAttributes: AgentAttributes;
  /**
   * Keeps the attributes that an agent got first, also when another one of its name turns up: the SDK would go on
   * exporting the old series beside the new one. Without it both agents get their directory as soon as there are two,
   * and an agent that comes back in another process gets the attributes of that.
   */
  readonly sticky: boolean;
}

export class AgentSeriesCache {
  readonly #options: AgentSeriesOptions;
  #byId = new Map<number, AgentSeries>();

  constructor(options: AgentSeriesOptions) {
    this.#options = options;
  }

  /** Beside `agents`; agents that are not among them are forgotten. */
  of(agents: readonly AgentSnapshot[]): AgentSeries[] {
    const ambiguous = ambiguousNames(agents);
    this.#options.agentAttributes.number(agents);
    const byId = new Map<number, AgentSeries>();
    const all = agents.map((agent) => {
      const series = this.#seriesOf(agent, ambiguous.has(agent.agent) ? agent.directory : undefined);
      byId.set(agent.id, series);
      return series;
    });
    this.#byId = byId;
    this.#options.agentAttributes.keep(agents);
    return all;
  }

  #seriesOf(agent: AgentSnapshot, directory: string | undefined): AgentSeries {
    const { naming, hostname, metrics, sticky, agentAttributes } = this.#options;
    const before = this.#byId.get(agent.id);
    if (before !== undefined && sticky) return before;
    const attributes = agentAttributes.of(agent);
    const nixlLabels = agentAttributes.nixlLabelsOf(agent);
    const isSame = before?.attributes === attributes && before.nixlLabels === nixlLabels;
    if (before !== undefined && isSame && before.directory === directory) return before;
    const place = directory === undefined ? {} : { directory };
    return new AgentSeries(naming, metrics, { agent: agent.agent, hostname, attributes, nixlLabels, ...place });
  }
}
