/** An output of serve, and what each kind of output is opened with. */
import type { SharedFeed } from '../../instrumentation/producer/metric-producer.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import type { Handler } from '../http/metrics-server.js';
import type { ExportLog } from './export-log.js';
import type { Owner } from './owners.js';
import type { ServeResource } from './resource.js';

/** Failure of all exports since a time, milliseconds since the epoch. */
export interface ExportFailure {
  readonly failingSinceMs: number;
  readonly reason: string;
}

export interface Output {
  readonly name: string;
  /** Handles requests for the exposition; present only if the exporter is scraped. */
  readonly exposition?: Handler;
  /** Returns the failure of the last export; present only if the exporter pushes. */
  readonly failing?: () => ExportFailure | undefined;
  /** Collects and exports once more. */
  close(): Promise<void>;
}

export interface OutputContext {
  readonly settings: ServeSettings;
  readonly shared: SharedFeed;
  /** Returns the resource of all exports. Loaded at its first use: it needs some ninety modules of OpenTelemetry. */
  readonly resource: () => Promise<ServeResource>;
  /** By the exporter's name. */
  readonly exportLogs: ReadonlyMap<string, ExportLog>;
}

export interface Opening extends OutputContext {
  readonly name: string;
  readonly owner: Owner;
}
