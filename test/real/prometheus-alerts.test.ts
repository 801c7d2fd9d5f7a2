/** The shipped alerts on a real Prometheus 3 with its receiver of OTLP. */
import { describe, it } from 'vitest';
import { PushedFleet } from '../servers/alerts/alerting-fleet.js';
import { expectEveryAlert } from '../servers/alerts/every-alert.js';
import { TEST_LIMIT } from '../servers/alerts/scaled-rules.js';
import { providePrometheus } from './tools.js';

describe.skipIf(!(await providePrometheus()))('a Prometheus 3', () => {
  it('fires each alert for its cause, and for nothing else, by OTLP', TEST_LIMIT, async () =>
    expectEveryAlert(await PushedFleet.start('otel')),
  );
});
