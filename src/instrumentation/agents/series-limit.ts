/**
 * Which agents get series of their own. The SDK keeps at most 2000 series per instrument, reports what is beyond them
 * wrongly for observable instruments, and never forgets a series, not even that of an agent long gone.
 */

/** The agent that stands for all those without series of their own. */
export const FOLDED_AGENT = 'other';

/** Event keys that `other` may have of its own, in each instrument: 1900 + 90 stay below the SDK's 2000. */
const MAX_FOLDED_EVENTS = 90;

export class SeriesLimit {
  readonly #limit: number;
  readonly #maxAgents: number;
  /** Per agent with series of its own: the events that have one. Never shrinks, as the SDK's memory does not. */
  readonly #own = new Map<string, Set<string>>();
  readonly #foldedEvents = new Set<string>();
  #eventSeries = 0;

  /** `widest`: the most series that one agent has in one instrument, events aside. */
  constructor(limit: number, widest: number) {
    this.#limit = limit;
    this.#maxAgents = Math.floor(limit / widest);
  }

  /** `agent`: what tells its series from those of others. `events`: how many event series it needs at once. */
  admits(agent: string, events: number): boolean {
    if (this.#own.has(agent)) return true;
    if (this.#own.size >= this.#maxAgents || this.#eventSeries + events > this.#limit) return false;
    this.#own.set(agent, new Set());
    return true;
  }

  /** An event that turns up when there is no room left goes to `other`, without its agent. */
  admitsEvent(agent: string, event: string): boolean {
    const events = this.#own.get(agent);
    if (events === undefined) return false;
    if (events.has(event)) return true;
    if (this.#eventSeries >= this.#limit) return false;
    events.add(event);
    this.#eventSeries++;
    return true;
  }

  /** False: `other` has so many events already that this one must share the overflow key. */
  admitsFoldedEvent(event: string): boolean {
    if (this.#foldedEvents.size >= MAX_FOLDED_EVENTS && !this.#foldedEvents.has(event)) return false;
    this.#foldedEvents.add(event);
    return true;
  }
}
