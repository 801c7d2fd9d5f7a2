/** The judge of slowness, as serve asks it, and what the verdict makes of its facts. */
import { levelOf } from '../../../src/view/verdict/shapes.js';
import { slowFindings } from '../../../src/view/verdict/slow-findings.js';
import type { Finding, VerdictInput } from '../../../src/view/verdict/types.js';
import type { SlowFact } from '../../../src/view/slowness/slow-facts.js';
import { type JudgedAgent, SlownessJudge } from '../../../src/view/slowness/slowness-judge.js';
import type { Said } from './said.js';

/** A sample as the judge takes it. */
export interface JudgedSample {
  readonly takenMs: number;
  readonly agents: readonly JudgedAgent[];
}

export class SlownessWatch {
  readonly #judge = new SlownessJudge();

  sample({ takenMs, agents }: JudgedSample): SlownessJudge {
    this.#judge.take(takenMs, agents);
    return this.#judge;
  }
}

/** Returns what the verdict says of the facts alone. */
export function saidOf(slowness: readonly SlowFact[], takenMs: number): Said[] {
  const input: Pick<VerdictInput, 'slowness' | 'takenMs'> = { slowness, takenMs };
  const names = new Map(slowness.map(({ id, name }) => [id, name]));
  const findings = slowFindings(input);
  return toSaid(findings.map((finding) => ({ ...finding, names: finding.agents.map((id) => names.get(id)!) })));
}

export function toSaid(findings: readonly Finding[]): Said[] {
  return findings.map((finding) => {
    const { kind, names = [], sinceMs, sentence } = finding;
    return { kind, level: levelOf(finding), agents: names, sinceMs, sentence };
  });
}
