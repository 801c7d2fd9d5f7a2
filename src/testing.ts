/** For tests of services, builders and dashboards, without agents: `opentelemetry-instrumentation-nixl/testing`. */
export { NixlTelemetryError, type NixlTelemetryErrorCode } from './ground/errors.js';
export type { CategoryTerm } from './mapping/index.js';
export type { TestError, TestEvent, TestReading, TestTransfer } from './testing/test-event.js';
export { TestRings, type TestRingsOptions } from './testing/test-rings.js';
