/** Agents of unknown life, and the right that would show it, as problems of their directories. */
import { plural } from '../../ground/figures/figure.js';
import { type MissingSight, missingSights } from '../../shm-bridge/process-sight.js';
import type { RingProblem } from '../../shm-bridge/types.js';
import type { AgentSnapshot } from '../../ground/tally.js';

/** Time for which a look at /proc counts. */
const KEPT_MS = 5_000;

type Agent = Pick<AgentSnapshot, 'directory' | 'life' | 'exported' | 'searched'>;

export class UnseenLives {
  readonly #now: () => number;
  readonly #look: () => readonly MissingSight[];
  #missing: readonly MissingSight[] = [];
  #lookedMs = -Infinity;

  /** `now`: milliseconds of a monotonic clock. `look`: for tests. */
  constructor(now: () => number, look: () => readonly MissingSight[] = missingSights) {
    this.#now = now;
    this.#look = look;
  }

  /** Returns at most one problem per directory; none if this process can see all, so that the life will be known. */
  problems(agents: readonly Agent[]): RingProblem[] {
    const unknown = agents.filter(({ life, exported, searched }) => life === 'unknown' && exported && searched);
    if (unknown.length === 0) return [];
    if (this.#now() - this.#lookedMs >= KEPT_MS) {
      this.#missing = this.#look();
      this.#lookedMs = this.#now();
    }
    if (this.#missing.length === 0) return [];
    const why = this.#missing.map((missing) => missing.why).join(', and ');
    const mend = this.#missing.map((missing) => missing.mend).join(', and ');
    return [...new Set(unknown.map(({ directory }) => directory))].map((path) => {
      const count = unknown.filter(({ directory }) => directory === path).length;
      const lives = `${count === 1 ? 'the life' : 'the lives'} of ${plural(count, 'agent')}`;
      return { path, state: 'unseen', reason: `${lives} cannot be seen, because ${why}; ${mend}` };
    });
  }
}
