/** Faults of one agent, as factors at a time. */
import type { Fault, FaultKind } from './shapes.js';

export class Faults {
  readonly #byKind = new Map<FaultKind, Fault[]>();

  constructor(faults: readonly Fault[], agent: string) {
    for (const fault of faults) {
      if (fault.agents !== undefined && !fault.agents.includes(agent)) continue;
      this.#byKind.set(fault.kind, [...(this.#byKind.get(fault.kind) ?? []), fault]);
    }
  }

  /** Returns the factor of one kind; 1 without a fault. */
  factor(kind: FaultKind, atUs: number): number {
    const faults = this.#byKind.get(kind);
    if (faults === undefined) return 1;
    return faults.reduce((product, fault) => product * factorAt(fault, atUs / 1e6), 1);
  }

  /** Returns the faults of a kind that are present. */
  present(kind: FaultKind, atUs: number): readonly Fault[] {
    return this.#byKind.get(kind)?.filter((fault) => isPresent(fault, atUs / 1e6)) ?? [];
  }

  /** Returns the end of the stall at this time; undefined without one. */
  stallEndUs(atUs: number): number | undefined {
    const ends = this.present('stall', atUs).map(({ fromS, stallS = 0, everyS = 60 }) => {
      const beganS = fromS + Math.floor((atUs / 1e6 - fromS) / everyS) * everyS;
      return (beganS + stallS) * 1e6;
    });
    return ends.find((endUs) => endUs > atUs);
  }

  /** Times at which the rate of the link changes at once. */
  linkChangesUs(untilS: number): number[] {
    return (this.#byKind.get('link') ?? []).flatMap(({ fromS, untilS: endS = Infinity, flapS }) => {
      const times = [fromS, endS];
      if (flapS !== undefined) for (let t = fromS + flapS; t < Math.min(untilS, endS); t += flapS) times.push(t);
      return times.filter((t) => t < untilS).map((t) => t * 1e6);
    });
  }
}

function isPresent({ fromS, untilS = Infinity, flapS }: Fault, t: number): boolean {
  return t >= fromS && t < untilS && (flapS === undefined || Math.floor((t - fromS) / flapS) % 2 === 0);
}

function factorAt(fault: Fault, t: number): number {
  if (!isPresent(fault, t)) return 1;
  return fault.creep === undefined ? fault.factor : (1 + fault.creep) ** ((t - fault.fromS) / 60);
}
