import type { Meter } from '@opentelemetry/api';
import { check } from '../../arguments.js';

/** @throws NixlTelemetryError CONFIG_INVALID */
export function checkedMeter(meter: Meter): Meter {
  const isMeter = typeof (meter as Meter | null | undefined)?.createCounter === 'function';
  check(isMeter, 'meter', meter, 'a Meter of OpenTelemetry');
  return meter;
}
