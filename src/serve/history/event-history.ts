/** Restarts and ends of agents in the last ten minutes. Pure. */
import type { BlindSpan, HistoryEvent } from '../../view/answers/history-answer.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import type { End } from '../../view/verdict/end-watch.js';
import { KEPT_MS } from './points.js';

/** A fleet that restarts as a whole needs no line for each agent. */
const MOST_EVENTS = 200;

export class EventHistory {
  #events: HistoryEvent[] = [];
  #blindSpans: readonly BlindSpan[] = [];
  #restarts = new Map<number, number>();

  /** Takes those of an earlier process. */
  restore(events: readonly HistoryEvent[], blindSpans: readonly BlindSpan[]): void {
    this.#events = [...events, ...this.#events];
    this.#blindSpans = blindSpans;
  }

  /** Restarts of serve, oldest first. */
  get blindSpans(): readonly BlindSpan[] {
    return this.#blindSpans;
  }

  /** `ends`: those since the last sample. */
  add(takenMs: number, agents: readonly ServedAgent[], ends: readonly End<number>[]): void {
    const before = this.#restarts;
    this.#restarts = new Map(agents.map(({ id, restarts }) => [id, restarts]));
    for (const { id, name, restarts } of agents) {
      if (restarts > (before.get(id) ?? restarts)) this.#events.push({ kind: 'restarted', timeMs: takenMs, id, name });
    }
    const alive = new Set(agents.flatMap(({ id, life }) => (life === 'dead' ? [] : [id])));
    for (const { id, name, endedMs, transferring = false } of ends) {
      // It started again since the last sample, as the event above says.
      if (alive.has(id)) continue;
      this.#events.push({ kind: 'ended', timeMs: endedMs, id, name, transferring });
    }
    if (this.#blindSpans.some(({ toMs }) => takenMs - toMs >= KEPT_MS)) {
      this.#blindSpans = this.#blindSpans.filter(({ toMs }) => takenMs - toMs < KEPT_MS);
    }
    this.#events = this.#events.filter(({ timeMs }) => takenMs - timeMs < KEPT_MS).slice(-MOST_EVENTS);
  }

  /** Returns the events after `fromMs`, oldest first. */
  after(fromMs: number): HistoryEvent[] {
    return this.#events.filter(({ timeMs }) => timeMs > fromMs);
  }
}
