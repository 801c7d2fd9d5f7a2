/** Rings without OpenTelemetry: `opentelemetry-instrumentation-nixl/rings`. */
export { NixlTelemetryError, type NixlTelemetryErrorCode } from './ground/errors.js';
export { Category, type CategoryNumber } from './ground/tally.js';
export { inspectRing, observeRing, openRing, type OpenRingOptions, Ring, RingObserver } from './shm-bridge/ring.js';
export { RingWriter, type RingWriterOptions, type WriteEvent } from './shm-bridge/ring-writer.js';
export type {
  ObserveResult,
  RingEvent,
  RingEventColumns,
  RingEventKind,
  RingStatus,
  RingInspection,
  RingState,
  RingStats,
} from './shm-bridge/types.js';
