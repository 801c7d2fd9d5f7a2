/** Agents and names of queued events: the queue has numbers only. */
import { type AgentSnapshot, type Attributes, type EventLabels, eventLabels } from '../../mapping/index.js';
import type { AgentAttributes } from '../agents/agent-attributes.js';
import type { EventGain } from '../../settings/metric-builder.js';

export interface KnownEvent extends EventLabels {
  readonly agent: string;
  readonly attributes: Attributes;
}

export class EventDirectory {
  readonly #attributes: AgentAttributes;
  /** Agents of the last snapshot, and of the previous one, whose events may still be queued. */
  #agents: ReadonlyMap<number, AgentSnapshot> = new Map();
  #before: ReadonlyMap<number, AgentSnapshot> = new Map();
  #labels = new Map<number, EventLabels[]>();
  /** Readings at the last call of gains(). */
  #counted: ReadonlyMap<number, AgentSnapshot> = new Map();

  constructor(attributes: AgentAttributes) {
    this.#attributes = attributes;
  }

  update(agents: readonly AgentSnapshot[]): void {
    this.#before = this.#agents;
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
    if (this.#labels.size <= 2 * agents.length) return;
    for (const id of this.#labels.keys()) if (this.#reading(id) === undefined) this.#labels.delete(id);
  }

  /** Returns undefined when the last snapshot did not have it. */
  of(id: number, key: number): KnownEvent | undefined {
    const agent = this.#reading(id);
    const labels = agent && this.#labelsOf(agent, key);
    return labels && { ...labels, agent: agent.agent, attributes: this.#attributes.of(agent) };
  }

  /** Returns the gains since the last call, by agent and event. */
  gains(agents: readonly AgentSnapshot[]): EventGain[] {
    const gains: EventGain[] = [];
    for (const agent of agents) {
      const before = this.#counted.get(agent.id);
      agent.events.forEach(({ count, sum }, key) => {
        const counted = before?.events[key];
        const gained = count - (counted?.count ?? 0);
        if (gained <= 0) return;
        const labels = this.#labelsOf(agent, key)!;
        const attributes = this.#attributes.of(agent);
        gains.push({ ...labels, agent: agent.agent, count: gained, sum: sum - (counted?.sum ?? 0n), attributes });
      });
    }
    this.#counted = new Map(agents.map((agent) => [agent.id, agent]));
    return gains;
  }

  #reading(id: number): AgentSnapshot | undefined {
    return this.#agents.get(id) ?? this.#before.get(id);
  }

  /** Keys are only ever appended, so the name at an index never changes. */
  #labelsOf({ id, events }: AgentSnapshot, key: number): EventLabels | undefined {
    let labels = this.#labels.get(id);
    if (labels === undefined) this.#labels.set(id, (labels = []));
    const event = events[key];
    return event && (labels[key] ??= eventLabels(event));
  }
}
