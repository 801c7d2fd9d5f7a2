/**
 * Keeps agents that ended and have left the snapshots: after --dead-ttl their series go, and people still want to see them. Pure.
 */
import type { ServedAgent } from '../../view/model/agent-model.js';
import { MOST_ENDED, type EndWatch } from '../../view/verdict/end-watch.js';

export class EndedAgents {
  #present: readonly ServedAgent[] = [];
  #kept: readonly ServedAgent[] = [];

  /**
   * Takes the agents of a snapshot, after `ends` took them. Returns those that ended and are not among them, the same array while
   * they are the same.
   */
  take(present: readonly ServedAgent[], ends: Pick<EndWatch<number>, 'endedMs'>): readonly ServedAgent[] {
    const before = this.#present;
    this.#present = present;
    const isUnchanged = present === before;
    const ids = new Set(present.map(({ id }) => id));
    const gone = isUnchanged ? [] : before.filter(({ id }) => !ids.has(id));
    const all = gone.length === 0 ? this.#kept : [...gone.map(lightly), ...this.#kept];
    const places = new Set(present.map(placeIn));
    // A new agent in the same ring has its name, which is its address.
    const kept = all.filter((agent) => {
      const isNewest = !places.has(placeIn(agent));
      places.add(placeIn(agent));
      return isNewest && ends.endedMs(agent.id) !== undefined;
    });
    if (kept.length !== this.#kept.length || gone.length > 0) this.#kept = kept.slice(0, MOST_ENDED);
    return this.#kept;
  }
}

const placeIn = ({ directory, agent }: ServedAgent): string => `${directory}/${agent}`;

/** Histograms would take most of the memory. The number of the process may soon be that of another one. */
function lightly(agent: ServedAgent): ServedAgent {
  const none = {
    pid: undefined,
    transferTimesUs: undefined,
    postTimesUs: undefined,
    txSizes: undefined,
    rxSizes: undefined,
  };
  return { ...agent, ...none, life: 'dead', fill: 0 };
}
