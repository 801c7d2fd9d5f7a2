/** The judge of slowness, as serve asks it. */
import { isSlowAlarm, type SlowFact } from '../../../src/view/slowness/slow-facts.js';
import { type JudgedAgent, SlownessJudge } from '../../../src/view/slowness/slowness-judge.js';
import type { Said } from './said.js';

/** A sample as the judge takes it. */
export interface JudgedSample {
  readonly takenMs: number;
  readonly agents: readonly JudgedAgent[];
}

export class SlownessWatch {
  readonly #judge = new SlownessJudge();

  sample({ takenMs, agents }: JudgedSample): readonly SlowFact[] {
    this.#judge.take(takenMs, agents);
    return this.#judge.facts;
  }
}

export function saidOf(facts: readonly SlowFact[]): Said[] {
  return facts.map((fact) => ({
    kind: fact.kind,
    level: isSlowAlarm(fact) ? 'alarm' : 'note',
    agents: [fact.name],
    sinceMs: fact.sinceMs,
    sentence: `${fact.direction}, ${fact.factor?.toFixed(1)} times`,
  }));
}
