/** Announced maintenance: what happens to its agents meanwhile is noted, and raises no alarm. Pure. */
import { matchesGlob } from '../../ground/glob.js';
import { slowFindings } from './slow-findings.js';
import type { Announced, Finding, Maintenance, VerdictInput } from './types.js';

/** Maintenance without an end counts for this long. */
export const LONGEST_MAINTENANCE_MS = 24 * 60 * 60_000;

/** Returns the input with what was announced of its ends and slow transfers. */
export function withAnnounced(input: VerdictInput): VerdictInput {
  const { maintenance = [], ended = [], slowness = [], takenMs } = input;
  if (maintenance.length === 0) return input;
  const mark = <One extends { readonly name: string }>(one: One, timeMs: number): One & Announced => {
    const found = maintenance.find(({ beginMs, endMs, agent }) => {
      return beginMs <= timeMs && timeMs <= endMs && (agent === undefined || matchesGlob(one.name, agent));
    });
    return found === undefined ? one : { ...one, announced: announcedText(found) };
  };
  return {
    ...input,
    maintenance: [],
    ended: ended.map((end) => mark(end, end.endedMs)),
    slowness: slowness.map((fact) => mark(fact, takenMs)),
  };
}

/** Slow transfers; those that were announced as notes. */
export function slowOrAnnounced(input: VerdictInput): Finding[] {
  const { slowness = [] } = input;
  const texts = [...new Set(slowness.flatMap(({ announced }) => announced ?? []))];
  const others = slowFindings({ ...input, slowness: slowness.filter(({ announced }) => announced === undefined) });
  const notes = texts.flatMap((text) => {
    const facts = slowness.filter(({ announced }) => announced === text);
    return slowFindings({ ...input, slowness: facts }).map((finding): Finding => {
      return { ...finding, tone: 'info', sentence: `${finding.sentence}; ${text}` };
    });
  });
  return [...others, ...notes];
}

function announcedText({ text }: Maintenance): string {
  return text === undefined ? 'maintenance was announced' : `announced: ${text}`;
}
