/** Notes about registered memory that only grows. Pure. */
import { momentText } from '../../ground/figures/clock.js';
import { bytesRateText, bytesText, plural } from '../../ground/figures/figure.js';
import type { MemoryGrowth } from '../model/agent-model.js';
import type { Finding, VerdictInput } from './types.js';

const MAX_SEPARATE = 3;
const ADVICE = 'An agent usually registers at its start and then rests: the program may forget to deregister.';

export function memoryFindings({ agents, takenMs }: VerdictInput): Finding[] {
  const growing = agents.flatMap((agent) => {
    const { memoryGrowth: growth } = agent;
    return growth === undefined || agent.life === 'dead' ? [] : [{ agent, growth, perSecond: rateOf(growth, takenMs) }];
  });
  growing.sort((a, b) => b.perSecond - a.perSecond);
  const finding = { kind: 'memory', tone: 'info', shape: 'ring', word: 'Memory grows', advice: ADVICE } as const;
  const text = (sinceMs: number, perSecond: number): string =>
    `only grows, by ${bytesRateText(perSecond)} since ${momentText(sinceMs, takenMs)}`;
  if (growing.length <= MAX_SEPARATE) {
    return growing.map(({ agent: { id, name, memoryBytes }, growth: { sinceMs, fromBytes }, perSecond }) => {
      const range = `from ${bytesText(fromBytes)} to ${bytesText(memoryBytes)}`;
      const sentence = `${name}: registered memory ${text(sinceMs, perSecond)}, ${range}`;
      return { ...finding, sentence, agents: [id], sinceMs };
    });
  }
  const sinceMs = Math.min(...growing.map(({ growth }) => growth.sinceMs));
  const perSecond = growing.reduce((sum, one) => sum + one.perSecond, 0);
  const { name } = growing[0]!.agent;
  const sentence = `${plural(growing.length, 'agent')}, most of all ${name}: registered memory ${text(sinceMs, perSecond)}`;
  return [{ ...finding, sentence, agents: growing.map(({ agent }) => agent.id), sinceMs }];
}

function rateOf({ sinceMs, bytes }: MemoryGrowth, nowMs: number): number {
  return bytes / Math.max(1, (nowMs - sinceMs) / 1000);
}
