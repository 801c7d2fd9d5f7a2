/**
 * Limit of the agents with separate series. The SDK keeps at most 2000 series per instrument, reports further ones of
 * observable instruments wrongly, and never forgets a series, even after its agent is gone.
 */

/** Name of the agent under which all folded agents are reported. */
export const FOLDED_AGENT = 'other';

/** Most event keys of `other` in each instrument: 1900 + 90 stay below the SDK's 2000. */
const MAX_FOLDED_EVENTS = 90;

export class SeriesLimit {
  readonly #limit: number;
  readonly #maxAgents: number;
  /** Events with a series, by admitted agent. Never shrinks, because the SDK's memory does not. */
  readonly #admitted = new Map<string, Set<string>>();
  readonly #foldedEvents = new Set<string>();
  #eventSeries = 0;

  /** `widest`: the most series of one agent in one instrument, without events. */
  constructor(limit: number, widest: number) {
    this.#limit = limit;
    this.#maxAgents = Math.floor(limit / widest);
  }

  /** `agent`: key of its series. `events`: number of event series that it needs at once. */
  admits(agent: string, events: number): boolean {
    if (this.#admitted.has(agent)) return true;
    if (this.#admitted.size >= this.#maxAgents || this.#eventSeries + events > this.#limit) return false;
    this.#admitted.set(agent, new Set());
    return true;
  }

  /** Returns false without room for the event: it goes to `other`, without its agent. */
  admitsEvent(agent: string, event: string): boolean {
    const events = this.#admitted.get(agent);
    if (events === undefined) return false;
    if (events.has(event)) return true;
    if (this.#eventSeries >= this.#limit) return false;
    events.add(event);
    this.#eventSeries++;
    return true;
  }

  /** Returns false when `other` has so many events that this one must share the overflow key. */
  admitsFoldedEvent(event: string): boolean {
    if (this.#foldedEvents.size >= MAX_FOLDED_EVENTS && !this.#foldedEvents.has(event)) return false;
    this.#foldedEvents.add(event);
    return true;
  }
}
