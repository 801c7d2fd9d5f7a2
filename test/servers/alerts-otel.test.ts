/** The same as alerts.test.ts, in naming otel. */
import { it } from 'vitest';
import { ScrapedFleet } from './alerts/alerting-fleet.js';
import { expectEveryAlert } from './alerts/every-alert.js';
import { TEST_LIMIT } from './alerts/scaled-rules.js';

it('fires for each cause, and for nothing else, in naming otel', TEST_LIMIT, async () =>
  expectEveryAlert(await ScrapedFleet.start('otel')),
);
