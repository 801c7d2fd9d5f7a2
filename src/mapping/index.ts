/** Meaning: names, units and attributes of events. Pure: no I/O, no clock, no OpenTelemetry. */
export type { Exact } from '../ground/exact.js';
export * from '../ground/tally.js';
export { utilization } from './agent-metrics.js';
export * from './allowlist.js';
export * from './attribute-values.js';
export * from './attributes.js';
export * from './builders.js';
export * from './categories.js';
export * from './custom-events.js';
export * from './event-keys.js';
export * from './events.js';
export * from './metric.js';
export * from './naming.js';
export * from './presets.js';
export * from './releases.js';
export * from './tally-options.js';
