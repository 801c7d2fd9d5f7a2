/** What was wrong and is over, in words. Pure; the live page uses this module, too. */
import { momentText } from '../../ground/figures/clock.js';
import { listed, plural } from '../../ground/figures/figure.js';
import type { PastTrouble } from './types.js';

const MOST_NAMED = 2;

/** `tp0 and tp1`, `12 agents`; empty if it concerned no particular one. */
export function agentsInWords({ agents, agentCount }: Pick<PastTrouble, 'agents' | 'agentCount'>): string {
  if (agentCount === 0) return '';
  return agentCount <= MOST_NAMED && agents.length === agentCount ? listed(agents) : plural(agentCount, 'agent');
}

/** `tp0`, `12 agents (tp0, tp1 and 10 more)`. */
export function agentsNamed(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${plural(names.length, 'agent')} (${listed(names)})`;
}

/** `3 agents, transfers fail`: the agents, and what they had. */
export function troubleSubject({ word, agents, agentCount }: Omit<PastTrouble, 'beginMs' | 'endMs'>): string {
  const subject = agentsInWords({ agents, agentCount });
  const what = `${word.charAt(0).toLowerCase()}${word.slice(1)}`;
  return subject === '' ? what : `${subject}, ${what}`;
}

/** `. Last trouble 02:14:10-02:31:05: 3 agents, data incomplete`; empty without one. */
export function pastTroubleText(last: PastTrouble | undefined, nowMs: number): string {
  if (last?.endMs === undefined) return '';
  const { beginMs, endMs } = last;
  return `. Last trouble ${momentText(beginMs, nowMs)}-${momentText(endMs, nowMs)}: ${troubleSubject(last)}`;
}
