/** What was usual for earlier agents of this host: an agent without a past is compared with them. Pure. */
import type { Usual } from './usual-times.js';

/** Kept of each direction: engines get new names at each start. */
const MOST_CURVES = 16;
/** An agent's own reference is worth keeping after this many blocks. */
const LEAST_BLOCKS = 4;

export interface Curve {
  /** Name of the agent. */
  readonly agent: string;
  readonly usual: Usual;
}

export class HostCurves {
  #curves: readonly Curve[];

  /** `curves`: those of an earlier process. */
  constructor(curves: readonly Curve[] = []) {
    this.#curves = curves.slice(-MOST_CURVES);
  }

  get all(): readonly Curve[] {
    return this.#curves;
  }

  /** Keeps what is usual for an agent in place of what was. */
  keep(curve: Curve): void {
    if (curve.usual.blocks < LEAST_BLOCKS) return;
    const place = this.#curves.findIndex(({ agent }) => agent === curve.agent);
    if (place >= 0) this.#curves = this.#curves.with(place, curve);
    // Later blocks of an agent that was pushed out do not push others out in turn.
    else if (curve.usual.blocks === LEAST_BLOCKS) this.#curves = [...this.#curves, curve].slice(-MOST_CURVES);
  }
}
