/** Rings without OpenTelemetry: `opentelemetry-instrumentation-nixl/rings`. */
export * from './shm-bridge/index.js';
export { NixlTelemetryError, type NixlTelemetryErrorCode } from './errors.js';
