/** Incidents in words, for the live page, the terminal and the log of serve. Pure; the live page uses this module, too. */
import { momentText, spanText } from '../../ground/figures/clock.js';
import type { FindingKind } from '../verdict/types.js';
import type { Incident } from './incident.js';

/** These have a time and no end: a finding about them only says for a while that it was so. */
const MOMENTS: ReadonlySet<FindingKind> = new Set(['ended', 'cold-start']);

export function isMoment({ kind }: Pick<Incident, 'kind'>): boolean {
  return MOMENTS.has(kind);
}

/** `02:14:10-02:31:05`, `since 02:14:10`, `at 02:14:10`, `02:14:10-02:31:05, until serve ended` */
export function whenText(incident: Incident, nowMs: number): string {
  const { beginMs, endMs, untilServeEnded } = incident;
  const begin = momentText(beginMs, nowMs);
  if (isMoment(incident)) return `at ${begin}`;
  if (endMs === undefined) return `since ${begin}`;
  return `${begin}-${momentText(endMs, nowMs)}${untilServeEnded === true ? ', until serve ended' : ''}`;
}

/** `17 min`; empty for a moment. */
export function howLongText(incident: Incident, nowMs: number): string {
  return isMoment(incident) ? '' : spanText((incident.endMs ?? nowMs) - incident.beginMs);
}
