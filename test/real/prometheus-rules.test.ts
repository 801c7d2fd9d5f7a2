/** The shipped rules and dashboards on a real Prometheus 3: scraped, and with its receiver of OTLP. */
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../cli/command.js';
import { PushedFleet } from '../servers/alerts/alerting-fleet.js';
import { expectEveryAlert } from '../servers/alerts/every-alert.js';
import { TEST_LIMIT } from '../servers/alerts/scaled-rules.js';
import { expectAnswers } from '../servers/dashboards.js';
import type { Way } from '../servers/spelled-fleet.js';
import { providePrometheus } from './tools.js';

const WAYS: Way[] = ['text', 'protobuf', 'OTLP', 'OTLP, exponential'];

describe.skipIf(!(await providePrometheus()))('a Prometheus 3', () => {
  it.each(WAYS)('has data for every expression of dashboards and rules, by %s', async (way) =>
    expectAnswers('standard', way),
  );

  it('fires each alert for its cause, and for nothing else, by OTLP', TEST_LIMIT, async () =>
    expectEveryAlert(await PushedFleet.start('otel')),
  );

  it('fires if nothing is pushed any more, and not before', TEST_LIMIT, async () => {
    const fleet = await PushedFleet.start('nixl');
    const { prometheus } = fleet;
    const serve = await fleet.add('host', temporaryDirectory());
    // Longer than the alert needs.
    await prometheus.has('count_over_time(nixl_collector_ticks_total[1h]) > 10');
    expect(await prometheus.isActive('NixlOtelAbsent')).toBe(false);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    await prometheus.hasFired('NixlOtelSilent host');
    await prometheus.has('ALERTS{alertname="NixlOtelAbsent", alertstate="firing"}');
  });
});
