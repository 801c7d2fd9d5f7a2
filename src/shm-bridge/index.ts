/** Room 1, bytes: rings, sources and snapshots. Knows no metric names and no OpenTelemetry. */
export { type AgentProcess, readAgentProcess } from './agent-process.js';
export {
  findWriters,
  inspectRing,
  observeRing,
  observeTally,
  openRing,
  type OpenRingOptions,
  Ring,
  RingObserver,
  TallyingObserver,
} from './ring.js';
export { RingWriter, type RingWriterOptions, type WriteEvent } from './ring-writer.js';
export { type EventTap, openSource, type RingSource, type SnapshotReader } from './source.js';
export type * from './types.js';
