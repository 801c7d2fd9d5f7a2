/** Alerts of a real Prometheus 3 that no serve pushes to any more. In a separate file, so that it runs beside the other alerts. */
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../cli/command.js';
import { PushedFleet } from '../servers/alerts/alerting-fleet.js';
import { TEST_LIMIT } from '../servers/alerts/scaled-rules.js';
import { providePrometheus } from './tools.js';

describe.skipIf(!(await providePrometheus()))('a Prometheus 3', () => {
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
