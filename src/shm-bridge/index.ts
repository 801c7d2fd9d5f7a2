/** Room 1, bytes: rings, sources and snapshots. Knows no metric names and no OpenTelemetry. */
export { type AgentProcess, readAgentProcess } from './agent-process.js';
export { findWriters, inspectRing, observeRing, openRing, Ring, RingObserver, type OpenRingOptions } from './ring.js';
export { RingWriter, type RingWriterOptions, type WriteEvent } from './ring-writer.js';
export { openSource, type EventQueue, type EventTap, type RingSource, type SnapshotReader } from './source.js';
export { observeTally, TallyingObserver } from './tallying-observer.js';
export type * from './types.js';
