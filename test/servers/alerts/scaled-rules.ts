/** The shipped rules in less time, and a Prometheus with them. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { temporaryDirectory } from '../../cli/command.js';
import { Backend, OTLP_RECEIVER, type OtlpBackend, PATIENTLY, startConfigured } from '../backends.js';
import { RULE_FILES } from '../rules/rule-test.js';

/** All durations of the rules and of the shipped configuration are divided by this: a minute is four seconds. */
export const FACTOR = 15;
const SCRAPE_MS = 15_000 / FACTOR;
/** Interval of pushes: the default of OpenTelemetry. */
export const EXPORT_MS = 60_000 / FACTOR;
/** Time after which a Prometheus takes a series without a new sample as ended. */
const LOOKBACK_MS = 300_000 / FACTOR;

/** Limit of waits, longer than in other tests: an agent is idle after 15 minutes. */
export const LIMIT = { ...PATIENTLY, timeout: 600_000 };
/** Limit of a test: time for one wait that fails, which names its condition, and as much for the others. */
export const TEST_LIMIT = { timeout: 2 * LIMIT.timeout };

const MINUTES = { m: 1, h: 60 };

/** Returns the text with each duration such as 5m, but not those in names such as rate5m. */
export function scaled(text: string): string {
  return text.replace(
    /\b(\d+)([mh])\b/g,
    (_, count: string, unit: 'm' | 'h') => `${(Number(count) * MINUTES[unit] * 60_000) / FACTOR}ms`,
  );
}

/** Starts a Prometheus with the shipped rules. `configuration`: the rest of its configuration. */
export async function startScaled(configuration: object, flags: readonly string[] = []): Promise<AlertingBackend> {
  const directory = temporaryDirectory();
  const rule_files = RULE_FILES.map((file) => {
    const copy = path.join(directory, path.basename(file));
    writeFileSync(copy, scaled(readFileSync(file, 'utf8')));
    return copy;
  });
  const interval = `${SCRAPE_MS}ms`;
  const global = { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval };
  const lookback = `--query.lookback-delta=${LOOKBACK_MS}ms`;
  const { server } = await startConfigured({ global, rule_files, ...configuration }, [lookback, ...flags]);
  return new AlertingBackend(server);
}

/** Starts one that gets OTLP. */
export async function startReceiving(): Promise<AlertingBackend & OtlpBackend> {
  const backend = await startScaled({}, OTLP_RECEIVER.flags);
  return Object.assign(backend, { pushTo: OTLP_RECEIVER.urlAt(backend) });
}

export class AlertingBackend extends Backend {
  /** Returns what has ever fired, as `alert host agent`. */
  async fired(): Promise<string[]> {
    const series = await this.query(
      'group by (alertname, instance, agent) (last_over_time(ALERTS{alertstate="firing"}[1h]))',
    );
    return series
      .map(({ metric: { alertname, instance = '', agent = '' } }) => `${alertname} ${instance} ${agent}`.trim())
      .sort();
  }

  /** Waits until these alerts have fired; other ones may have, too. */
  async hasFired(...alerts: string[]): Promise<void> {
    await expect
      .poll(async () => {
        const fired = await this.fired();
        return alerts.filter((alert) => !fired.includes(alert));
      }, LIMIT)
      .toEqual([]);
  }

  /** Returns whether the alert is pending or fires at present. */
  async isActive(alert: string): Promise<boolean> {
    return (await this.query(`ALERTS{alertname="${alert}"}`)).length > 0;
  }

  /** Returns hosts of which a scrape took all the time that it had: the machine was busy. An ended serve refuses at once. */
  async timedOut(): Promise<string[]> {
    const series = await this.query(`max_over_time(scrape_duration_seconds[1h]) >= ${SCRAPE_MS / 1000}`);
    return series.map(({ metric }) => metric['instance']!);
  }

  /** Waits until the expression has any series. */
  async has(expression: string): Promise<void> {
    const found = async () => (await this.query(expression)).length;
    await expect.poll(found, { ...LIMIT, message: expression }).toBeGreaterThan(0);
  }

  /** Returns the present alerts with their texts. */
  async texts(): Promise<{ labels: Record<string, string>; annotations: Record<string, string> }[]> {
    interface Answer {
      data: { alerts: { labels: Record<string, string>; annotations: Record<string, string> }[] };
    }
    return (await this.server.get<Answer>('/api/v1/alerts')).data.alerts;
  }
}
