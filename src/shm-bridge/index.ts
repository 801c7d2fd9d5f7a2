/** Bytes: rings, sources and snapshots. Knows no metric names and no OpenTelemetry. */
export { type AgentProcess, readAgentProcess } from './agent-process.js';
export * from './ring.js';
export * from './ring-writer.js';
export * from './source.js';
export * from './tallying-observer.js';
export type * from './types.js';
