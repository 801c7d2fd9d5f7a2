/** Snapshots in words: rates from the difference of two, totals from one. Pure. */
import { Category, eventOfType } from '../../mapping/index.js';
import type { AgentSnapshot, Snapshot } from '../../shm-bridge/types.js';
import { DROPPED, RX_BYTES, RX_REQUESTS, TX_BYTES, TX_REQUESTS } from '../event-types.js';
import { amount, bytes } from './numbers.js';

export { amount, bytes };

/** What a line of rates is made of, each summed over agents. */
interface Sums {
  txBytes: bigint;
  rxBytes: bigint;
  requests: bigint;
  errors: number;
}

/** `2 agents · tx 1.2 GB/s · rx 412 MB/s · 310 req/s · 0 errors/s · 0 lost` */
export function rateLine(before: Snapshot | undefined, after: Snapshot): string {
  const { txBytes, rxBytes, requests, errors } = increase(before, after);
  const seconds = before === undefined ? 0 : (after.takenMs - before.takenMs) / 1000;
  const perSecond = (amount: bigint | number): number => (seconds > 0 ? Number(amount) / seconds : 0);
  const parts = [
    agentCount(after),
    `tx ${bytes(perSecond(txBytes))}/s`,
    `rx ${bytes(perSecond(rxBytes))}/s`,
    `${amount(perSecond(requests))} req/s`,
    `${amount(perSecond(errors))} errors/s`,
    ...loss(after),
  ];
  return parts.join(' · ');
}

function agentCount({ agents }: Snapshot): string {
  const present = agents.filter(({ exported, life }) => exported && life !== 'dead').length;
  return present === 1 ? '1 agent' : `${present} agents`;
}

/** By agent: one that came since counts from 0, one that left takes nothing away. */
function increase(before: Snapshot | undefined, after: Snapshot): Sums {
  const old = new Map(before?.agents.map((agent) => [agent.id, sumsOf(agent)]));
  const total: Sums = { txBytes: 0n, rxBytes: 0n, requests: 0n, errors: 0 };
  for (const agent of after.agents) {
    const now = sumsOf(agent);
    const then = old.get(agent.id);
    total.txBytes += now.txBytes - (then?.txBytes ?? 0n);
    total.rxBytes += now.rxBytes - (then?.rxBytes ?? 0n);
    total.requests += now.requests - (then?.requests ?? 0n);
    total.errors += now.errors - (then?.errors ?? 0);
  }
  return total;
}

function sumsOf(agent: AgentSnapshot): Sums {
  const failed = agent.events.filter(({ category }) => category === Category.ERROR);
  return {
    txBytes: sumOf(agent, TX_BYTES),
    rxBytes: sumOf(agent, RX_BYTES),
    requests: sumOf(agent, TX_REQUESTS) + sumOf(agent, RX_REQUESTS),
    errors: failed.reduce((count, event) => count + event.count, 0),
  };
}

export function sumOf(agent: AgentSnapshot, type: number): bigint {
  return eventOfType(agent, type)?.sum ?? 0n;
}

/** Since the start, not per second: one lost event is worth seeing for longer than one line. */
function loss({ agents }: Snapshot): string[] {
  const lost = agents.reduce((sum, agent) => sum + sumOf(agent, DROPPED), 0n);
  const full = agents.reduce((sum, agent) => sum + agent.foundFull, 0);
  return [
    `${amount(Number(lost))} lost`,
    ...(full === 0 ? [] : [`rings found full ${amount(full)} times: more may be lost`]),
  ];
}

/** Everything that was counted, over all agents. */
export function countedEvents({ agents }: Snapshot): number {
  return agents.reduce((sum, { events }) => sum + events.reduce((count, event) => count + event.count, 0), 0);
}
