/** Agents and names of queued events, because the queue has only numbers. */
import { madeOnce } from '../../ground/maps.js';
import { type AgentSnapshot, type EventLabels, eventLabels } from '../../mapping/index.js';
import type { AgentEvent, EventGain } from '../../settings/metric-builder.js';
import type { AgentTally } from '../../ground/tally.js';
import type { AgentAttributes } from '../agents/agent-attributes.js';

type NamedEvent = Omit<AgentEvent, 'value' | 'exact' | 'timeMs'>;

export class EventDirectory {
  readonly #attributes: AgentAttributes;
  /** Agents of the last snapshot, and of the previous one: events of both may still be queued. */
  #agents: ReadonlyMap<number, AgentSnapshot> = new Map();
  #before: ReadonlyMap<number, AgentSnapshot> = new Map();
  #labels = new Map<number, EventLabels[]>();
  /** Readings at the last call of gains(). */
  #counted: ReadonlyMap<number, AgentTally> = new Map();

  constructor(attributes: AgentAttributes) {
    this.#attributes = attributes;
  }

  update(agents: readonly AgentSnapshot[]): void {
    this.#before = this.#agents;
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
    if (this.#labels.size <= 2 * agents.length) return;
    for (const id of this.#labels.keys()) if (this.#reading(id) === undefined) this.#labels.delete(id);
  }

  /** Returns undefined if the last two snapshots lack the agent, or the later one of them with it lacks the key. */
  of(id: number, key: number): NamedEvent | undefined {
    const agent = this.#reading(id);
    return agent && this.#named(agent, key);
  }

  /**
   * Returns the gains since the last call, by agent and event. `recovered` returns what earlier processes counted of an agent:
   * their gains are not repeated.
   */
  gains(agents: readonly AgentSnapshot[], recovered: (agentId: number) => AgentTally | undefined): EventGain[] {
    const gains: EventGain[] = [];
    const counted = new Map<number, AgentTally>();
    for (const agent of agents) {
      const before = this.#counted.get(agent.id) ?? (agent.recovered ? recovered(agent.id) : undefined);
      if (agent.recovered && before === undefined) continue; // not available now: its gains follow
      counted.set(agent.id, agent);
      agent.events.forEach(({ count, sum }, key) => {
        const earlier = before?.events[key];
        const gained = count - (earlier?.count ?? 0);
        if (gained <= 0) return;
        gains.push({ ...this.#named(agent, key)!, count: gained, sum: sum - (earlier?.sum ?? 0n) });
      });
    }
    this.#counted = counted;
    return gains;
  }

  #reading(id: number): AgentSnapshot | undefined {
    return this.#agents.get(id) ?? this.#before.get(id);
  }

  /** Keys are only ever appended, so the name at an index never changes. */
  #named(agent: AgentSnapshot, key: number): NamedEvent | undefined {
    const labels = madeOnce(this.#labels, agent.id, (): EventLabels[] => []);
    const event = agent.events[key];
    return (
      event && { ...(labels[key] ??= eventLabels(event)), agent: agent.agent, attributes: this.#attributes.of(agent) }
    );
  }
}
