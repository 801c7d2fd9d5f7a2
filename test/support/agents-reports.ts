/** What agents report to have written, and what a page of serve shows of it, by the same keys. */
import { type Sample, samplesOf } from './page.js';

/** Numbers by agent, series and labels: `steady-0 nixl_events_total agent_tx_bytes`. */
export type Numbers = Record<string, number>;

/** One agent in the last line of transfer-source. */
interface AgentReport {
  agent: string;
  refused: number;
  wiped: number;
  transfersTx: number;
  transfersRx: number;
  events: Record<string, { count: string; sum: string; last: string }>;
}

/** Sums, counts and last values over all lives of agents. */
export class Reports {
  readonly written: Numbers = {};
  /** Events that a full ring refused, or that a restart wiped. */
  lost = 0;

  /** Adds the output of a transfer-source that has ended. */
  add(stdout: string): void {
    const { agents } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { agents: AgentReport[] };
    for (const { agent, refused, wiped, transfersTx, transfersRx, events } of agents) {
      this.lost += refused + wiped;
      this.#add(agent, 'nixl_transfer_size_count transmit', transfersTx);
      this.#add(agent, 'nixl_transfer_size_count receive', transfersRx);
      for (const [event, { count, sum, last }] of Object.entries(events)) {
        this.#add(agent, `nixl_events_total ${event}`, Number(count));
        this.#add(agent, `nixl_event_value_total ${event}`, Number(sum));
        this.written[`${agent} nixl_event_last ${event}`] = Number(last);
        if (event.endsWith('_time')) this.#add(agent, `${event}_us_count`, Number(count));
      }
    }
  }

  #add(agent: string, series: string, number: number): void {
    const key = `${agent} ${series}`;
    if (number !== 0) this.written[key] = (this.written[key] ?? 0) + number;
  }
}

const SHOWN =
  /^(nixl_events_total|nixl_event_value_total|nixl_event_last|nixl_transfer_size_count|agent_\w+_us_count)$/;

/** Returns what a page with all series (`--series full`) shows of the reports' keys. A series at 0 equals an absent one. */
export function shownOn(page: string): Numbers {
  const shown: Numbers = {};
  for (const { name, labels, value } of samplesOf(page)) {
    if (!SHOWN.test(name)) continue;
    const { agent_name: agent, event, direction } = labels;
    const key = [agent, name, event ?? direction].filter((word) => word !== undefined).join(' ');
    if (value !== 0 || name === 'nixl_event_last') shown[key] = value;
  }
  return shown;
}

const isCounter = ({ name }: Sample): boolean => /_(total|count|sum|bucket)$/.test(name);

/** Compares pages of one serve after another. */
export class CountersThatOnlyGrow {
  #before = new Map<string, number>();

  /** Returns the counters of agents that are smaller on this page than on an earlier one. */
  decreasedOn(page: string): string[] {
    const now = new Map(
      samplesOf(page)
        .filter((sample) => isCounter(sample) && sample.labels['agent_name'] !== undefined)
        .map(({ name, labels, value }) => [`${name}${JSON.stringify(labels)}`, value]),
    );
    const decreased = [...this.#before].filter(([key, value]) => (now.get(key) ?? Infinity) < value);
    this.#before = new Map([...this.#before, ...now]);
    return decreased.map(([key, value]) => `${key}: ${now.get(key)}, before ${value}`);
  }
}
