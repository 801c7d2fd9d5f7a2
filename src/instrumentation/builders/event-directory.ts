/** Whose events the queue holds, and what they are called: the queue has numbers only. */
import { type AgentSnapshot, type Attributes, type EventLabels, eventLabels } from '../../mapping/index.js';
import type { AgentAttributes } from '../agents/agent-attributes.js';
import type { EventGain } from '../../settings/metric-builder.js';

export interface KnownEvent extends EventLabels {
  readonly agent: string;
  readonly attributes: Attributes;
}

export class EventDirectory {
  readonly #attributes: AgentAttributes;
  /** As the last snapshot had them; and the one before, whose events may still be queued. */
  #agents: ReadonlyMap<number, AgentSnapshot> = new Map();
  #before: ReadonlyMap<number, AgentSnapshot> = new Map();
  #words = new Map<number, EventLabels[]>();
  /** As of the last call of gains(). */
  #counted: ReadonlyMap<number, AgentSnapshot> = new Map();

  constructor(attributes: AgentAttributes) {
    this.#attributes = attributes;
  }

  update(agents: readonly AgentSnapshot[]): void {
    this.#before = this.#agents;
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
    if (this.#words.size <= 2 * agents.length) return;
    for (const id of this.#words.keys()) if (this.#reading(id) === undefined) this.#words.delete(id);
  }

  /** Undefined: the last snapshot did not have it. */
  of(id: number, key: number): KnownEvent | undefined {
    const agent = this.#reading(id);
    const words = agent && this.#wordsOf(agent, key);
    return words && { ...words, agent: agent.agent, attributes: this.#attributes.of(agent) };
  }

  /** What came on top since the last call, by agent and event. */
  gains(agents: readonly AgentSnapshot[]): EventGain[] {
    const gains: EventGain[] = [];
    for (const agent of agents) {
      const before = this.#counted.get(agent.id);
      agent.events.forEach(({ count, sum }, key) => {
        const counted = before?.events[key];
        const gained = count - (counted?.count ?? 0);
        if (gained <= 0) return;
        const words = this.#wordsOf(agent, key)!;
        const attributes = this.#attributes.of(agent);
        gains.push({ ...words, agent: agent.agent, count: gained, sum: sum - (counted?.sum ?? 0n), attributes });
      });
    }
    this.#counted = new Map(agents.map((agent) => [agent.id, agent]));
    return gains;
  }

  #reading(id: number): AgentSnapshot | undefined {
    return this.#agents.get(id) ?? this.#before.get(id);
  }

  /** Keys are only ever appended, so what a place is called never changes. */
  #wordsOf({ id, events }: AgentSnapshot, key: number): EventLabels | undefined {
    let words = this.#words.get(id);
    if (words === undefined) this.#words.set(id, (words = []));
    const event = events[key];
    return event && (words[key] ??= eventLabels(event));
  }
}
