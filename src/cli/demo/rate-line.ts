/** The line of rates that demo prints. Pure. */
import type { Snapshot } from '../../shm-bridge/types.js';
import { bytesRateText, numberText, plural, times } from '../../ground/figures/figure.js';
import { Interval } from '../../view/figures/rates.js';
import { ErrorStatuses, modelsOf } from '../../view/model/from-snapshot.js';
import { ratesOf } from '../../view/model/rows.js';

const STATUSES = new ErrorStatuses([]);

/** `2 agents · tx 1.2 GB/s · rx 412 MB/s · 310 req/s · 0 errors/s · 0 lost` */
export function rateLine(before: Snapshot | undefined, after: Snapshot): string {
  const now = sampleOf(after);
  const rates = ratesOf(new Interval(before && sampleOf(before), now), now.agents);
  // Losses are totals, not rates: a lost event must stay visible in later lines.
  const lost = now.agents.reduce((all, agent) => all + agent.lost, 0);
  const full = now.agents.reduce((all, { foundFull }) => all + foundFull, 0);
  return [
    agentCount(after),
    `tx ${bytesRateText(rates.txBytesPerSecond ?? 0)}`,
    `rx ${bytesRateText(rates.rxBytesPerSecond ?? 0)}`,
    `${numberText(rates.requestsPerSecond ?? 0)} req/s`,
    `${numberText(rates.errorsPerSecond ?? 0)} errors/s`,
    `${numberText(lost)} lost`,
    ...(full === 0 ? [] : [`rings found full ${times(full)}: more events may be lost`]),
  ].join(' · ');
}

function sampleOf({ takenMs, agents }: Snapshot) {
  return { takenMs, agents: modelsOf(agents, STATUSES) };
}

function agentCount({ agents }: Snapshot): string {
  return plural(agents.filter(({ exported, life }) => exported && life !== 'dead').length, 'agent');
}

export function countedEvents({ agents }: Snapshot): number {
  return agents.reduce((sum, { events }) => sum + events.reduce((all, { count }) => all + count, 0), 0);
}
