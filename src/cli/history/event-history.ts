/** Restarts and ends of agents in the last ten minutes. Pure. */
import type { End } from '../verdict/end-watch.js';
import { KEPT_MS } from './points.js';
import type { AgentReading } from './reading.js';

/** A fleet that restarts as a whole needs no line for each agent. */
const MOST_EVENTS = 200;

export interface AgentEvent {
  readonly kind: 'restarted' | 'ended';
  readonly timeMs: number;
  readonly id: number;
  readonly name: string;
  /** True for an end during transfers. */
  readonly transferring?: boolean;
}

export class EventHistory {
  #events: AgentEvent[] = [];
  #restarts = new Map<number, number>();

  /** `ends`: those since the last sample. */
  add(takenMs: number, readings: readonly AgentReading[], ends: readonly End<number>[]): void {
    const before = this.#restarts;
    this.#restarts = new Map(readings.map(({ agent }) => [agent.id, agent.restarts]));
    for (const { agent, name } of readings) {
      const { id, restarts } = agent;
      if (restarts > (before.get(id) ?? restarts)) this.#events.push({ kind: 'restarted', timeMs: takenMs, id, name });
    }
    for (const { id, name, endedMs, transferring } of ends) {
      this.#events.push({ kind: 'ended', timeMs: endedMs, id, name, transferring });
    }
    this.#events = this.#events.filter(({ timeMs }) => takenMs - timeMs < KEPT_MS).slice(-MOST_EVENTS);
  }

  /** Returns the events after `fromMs`, oldest first. */
  after(fromMs: number): AgentEvent[] {
    return this.#events.filter(({ timeMs }) => timeMs > fromMs);
  }
}
