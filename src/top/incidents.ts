/** What serves found in the last day, for top. Pure. */
import type { ListedIncident } from '../view/incidents/incident-table.js';

export interface TopIncidents {
  /** Newest first. */
  readonly listed: readonly ListedIncident[];
  /** For each origin that has none, the reason. */
  readonly missing: readonly string[];
}

export function noIncidents(reason: string): TopIncidents {
  return { listed: [], missing: [reason] };
}

/** Joins those of several hosts. */
export function joinedIncidents(all: readonly TopIncidents[]): TopIncidents {
  const listed = all.flatMap((one) => one.listed).sort((a, b) => b.incident.saidMs - a.incident.saidMs);
  return { listed, missing: all.flatMap(({ missing }) => missing) };
}
