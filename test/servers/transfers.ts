/** Agents at work, and the answers that a backend must give by their reports. */
import { expect } from 'vitest';
import { startTransferSource, type RunningCommand } from '../cli/command.js';
import type { Backend } from './backends.js';

interface AgentTotals {
  agent: string;
  written: number;
  wiped: number;
  refused: number;
  events: Record<string, { count: string; sum: string }>;
}

/** Metric that equals the number of an agent's transfers. */
export const TRANSFERS = 'agent_xfer_time_us_count';

/** Totals of series over all lives of an agent: `agent-0 agent_tx_bytes_total`, `agent-0 agent_errors_total backend`. */
export type Sums = Record<string, number>;

export class Agents {
  readonly written: Sums = {};
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Agents that work until finish(). */
  async start(...args: string[]): Promise<RunningCommand> {
    const agents = startTransferSource([
      '--dir',
      this.#directory,
      '--seconds',
      '0',
      '--errors',
      '5',
      '--ready',
      ...args,
    ]);
    await agents.says(/^ready$/m);
    return agents;
  }

  async finish(agents: RunningCommand): Promise<void> {
    const { code, stdout } = await agents.stop('SIGTERM');
    expect(code).toBe(0);
    this.#add(stdout);
  }

  /** Agents that live for a second. */
  async run(...args: string[]): Promise<void> {
    const { code, stdout } = await startTransferSource([
      '--dir',
      this.#directory,
      '--seconds',
      '1',
      '--errors',
      '5',
      ...args,
    ]).ended;
    expect(code).toBe(0);
    this.#add(stdout);
  }

  /** Number of transfers of that agent in its ended lives. */
  transfersOf(agent: string): number {
    const transfers = this.written[`${agent} ${TRANSFERS}`];
    if (transfers === undefined) throw new Error(`${agent} has not ended, or moved nothing`);
    return transfers;
  }

  #add(stdout: string): void {
    const { agents } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { agents: AgentTotals[] };
    for (const { agent, refused, wiped, events } of agents) {
      // A full or rebuilt ring would have lost events, and made all comparisons meaningless.
      expect({ agent, refused, wiped }).toEqual({ agent, refused: 0, wiped: 0 });
      for (const [event, { count, sum }] of Object.entries(events)) {
        const error = /^agent_err_(.*)/.exec(event)?.[1];
        add(this.written, [agent, error === undefined ? `${event}_total` : `agent_errors_total ${error}`], Number(sum));
        // These have a histogram as well.
        if (event.endsWith('_time')) add(this.written, [agent, `${event}_us_count`], Number(count));
      }
    }
  }
}

/** Adds to a total. A series at 0 equals an absent one. */
function add(sums: Sums, words: readonly string[], value: number): void {
  const key = words.join(' ');
  if (value !== 0) sums[key] = (sums[key] ?? 0) + value;
}

/** Computes the total of a series from all of its stored samples. */
export type Total = (values: readonly number[]) => number;

export const ofDeltas: Total = (values) => values.reduce((sum, value) => sum + value, 0);

/** Increase as in PromQL, without the extrapolation of increase(): a smaller value is a new start. */
export const ofCumulative: Total = (values) =>
  values.reduce((sum, value, i) => sum + (i > 0 && value >= values[i - 1]! ? value - values[i - 1]! : value), 0);

/** Totals that the backend computes from all of its samples, the newest included. */
export async function storedIn(backend: Backend, total: Total): Promise<Sums> {
  const sums: Sums = {};
  for (const { metric, values } of await backend.query('{__name__=~"agent_.*(_total|_us_count)"}[1h]')) {
    const { __name__: name, agent_name: agent, status } = metric;
    add(sums, [agent!, name!, ...(status === undefined ? [] : [status])], total(values));
  }
  return sums;
}
