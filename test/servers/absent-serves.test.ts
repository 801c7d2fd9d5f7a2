/** Alerts on serves that are not there: on a real Prometheus that scrapes, and beside a VictoriaMetrics that takes pushes. */
import { expect, it } from 'vitest';
import { start, temporaryDirectory } from '../cli/command.js';
import { ScrapedFleet } from './alerts/alerting-fleet.js';
import { CALM, startAgents } from './alerts/hosts.js';
import { startScaled, TEST_LIMIT } from './alerts/scaled-rules.js';
import { startVictoriaMetrics } from './backends.js';
import { federateJob } from './spelled-fleet.js';

it('fires if Prometheus has no serve to scrape, and not while it has one', TEST_LIMIT, async () => {
  const fleet = await ScrapedFleet.start('nixl');
  await fleet.add('host', temporaryDirectory());
  // Longer than the alert needs.
  await fleet.prometheus.has('count_over_time(up{job="nixl-otel"}[1h]) > 40');
  expect(await fleet.prometheus.isActive('NixlOtelAbsent')).toBe(false);
  fleet.remove('host');
  await fleet.prometheus.has('ALERTS{alertname="NixlOtelAbsent", alertstate="firing"}');
  // NixlOtelDown needs less time.
  expect(await fleet.prometheus.fired()).not.toContain('NixlOtelDown host');
});

it('fires for a serve that stops to push to VictoriaMetrics, and not for one that goes on', TEST_LIMIT, async () => {
  const receiver = await startVictoriaMetrics(['-opentelemetry.usePrometheusNaming']);
  const startPushing = async (instance: string) => {
    const directory = temporaryDirectory();
    await startAgents(directory, 'agent');
    const flags = [...CALM, '--exporter', 'otlp', '--export-interval', '1000'];
    return start(['serve', '--dir', directory, ...flags], {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.pushTo,
      OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${instance}`,
    });
  };
  const ended = await startPushing('ended');
  await startPushing('other');
  const prometheus = await startScaled({ scrape_configs: [federateJob(new URL(receiver.server.url).host)] });
  for (const instance of ['ended', 'other']) {
    await prometheus.has(`count_over_time(nixl_collector_ticks_total{instance="${instance}"}[1h]) > 5`);
  }
  await ended.stop('SIGKILL');
  await prometheus.hasFired('NixlOtelSilent ended');
  const silent = (await prometheus.fired()).filter((alert) => alert.startsWith('NixlOtelSilent'));
  expect(silent).toEqual(['NixlOtelSilent ended']);
});
