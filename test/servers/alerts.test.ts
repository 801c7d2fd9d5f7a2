/**
 * Each alert fires for its cause on a real Prometheus with the shipped rules, and none for what is healthy: scraped in naming nixl,
 * beside alerts-otel.test.ts. By OTLP, test/real has the same. Durations are divided (scaled-rules.ts); rules.test.ts has the cases
 * with those of the rules.
 */
import { expect, it } from 'vitest';
import { ScrapedFleet } from './alerts/alerting-fleet.js';
import { expectEveryAlert } from './alerts/every-alert.js';
import { scaled, TEST_LIMIT } from './alerts/scaled-rules.js';

it('scales every duration of the rules, and no name', () => {
  expect(scaled('x:increase5m[5m] offset 5m [1h]')).toBe('x:increase5m[20000ms] offset 20000ms [240000ms]');
});

it('fires for each cause, and for nothing else', TEST_LIMIT, async () =>
  expectEveryAlert(await ScrapedFleet.start('nixl')),
);
