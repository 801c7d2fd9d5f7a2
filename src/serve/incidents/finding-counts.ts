/** Counts findings by kind and level. Pure. */
import { COUNTED_FINDINGS, type FindingCount } from '../../instrumentation/serve-state.js';
import type { SlowFact } from '../../view/slowness/slow-facts.js';
import { levelOf } from '../../view/verdict/shapes.js';
import { slowFindings } from '../../view/verdict/slow-findings.js';
import type { Finding } from '../../view/verdict/types.js';

type Kind = Omit<FindingCount, 'count'>;

/** Kinds that the judge of slowness finds. */
export const SLOWNESS_KINDS: readonly string[] = [
  'slow-transfers',
  'slow-posts',
  'late-completion',
  'busy',
  'cold-start',
  'uneven',
] satisfies SlowFact['kind'][];

/** With all usual kinds, also those that are not found. */
export function findingCounts(
  findings: readonly Finding[],
  kinds: readonly Kind[] = COUNTED_FINDINGS,
): readonly FindingCount[] {
  const counts = new Map<string, FindingCount>(kinds.map((one) => [keyOf(one), { ...one, count: 0 }]));
  for (const finding of findings) {
    if (finding.kind === 'none') continue;
    const one = { kind: finding.kind, level: levelOf(finding) };
    counts.set(keyOf(one), { ...one, count: (counts.get(keyOf(one))?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}

/** The kinds of slowness alone. */
export function slownessCounts(facts: readonly SlowFact[], takenMs: number): readonly FindingCount[] {
  const kinds = COUNTED_FINDINGS.filter(({ kind }) => SLOWNESS_KINDS.includes(kind));
  return findingCounts(slowFindings({ slowness: facts, takenMs }), kinds);
}

function keyOf({ kind, level }: Kind): string {
  return `${kind} ${level}`;
}
