/** The line of rates that demo prints. Pure. */
import type { AgentSnapshot, Snapshot } from '../../shm-bridge/types.js';
import { plural } from '../../plural.js';
import { amount } from '../figures/formats.js';
import { Interval } from '../figures/rates.js';
import { ratesOf, rateTexts, totalsOf } from '../figures/totals.js';

/** `2 agents · tx 1.2 GB/s · rx 412 MB/s · 310 req/s · 0 errors/s · 0 lost` */
export function rateLine(before: Snapshot | undefined, after: Snapshot): string {
  const now = withTotals(after);
  const interval = new Interval(before && withTotals(before), now);
  // Losses are totals, not rates: a lost event must stay visible in later lines.
  const lost = now.agents.reduce((all, { dropped }) => all + dropped, 0n);
  const full = after.agents.reduce((all, { foundFull }) => all + foundFull, 0);
  const fullText = full === 0 ? [] : [`rings found full ${amount(full)} times: more events may be lost`];
  return [
    agentCount(after),
    ...rateTexts(ratesOf(interval, now.agents)),
    `${amount(Number(lost))} lost`,
    ...fullText,
  ].join(' · ');
}

function withTotals({ takenMs, agents }: Snapshot) {
  const totals = ({ id, startTimeMs, events }: AgentSnapshot) => ({ id, startTimeMs, ...totalsOf(events) });
  return { takenMs, agents: agents.map(totals) };
}

function agentCount({ agents }: Snapshot): string {
  return plural(agents.filter(({ exported, life }) => exported && life !== 'dead').length, 'agent');
}

/** Number of all events of all agents. */
export function countedEvents({ agents }: Snapshot): number {
  return agents.reduce((sum, { events }) => sum + events.reduce((all, { count }) => all + count, 0), 0);
}
