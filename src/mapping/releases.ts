/**
 * Whose series naming `nixl` has: one row per line of NIXL releases, from the pages that their own Prometheus exporters
 * print. It is about the series whose names begin with `agent_`; those of this package are the same beside each.
 */
import { Category } from './categories.js';
import { type EventMetricRefs, type EventRow, EVENTS, type MetricRef } from './events.js';

export interface ReleaseRow {
  /** Releases with these series. The exporter of the last one was compared. */
  readonly releases: string;
  /** How many event types of the table have series: those from 0 on. */
  readonly types: number;
  /** Whether the series carry the label `category`. */
  readonly hasCategory: boolean;
  /** The series of one event. `main` has the names of the event table. */
  readonly seriesOf: (row: EventRow) => EventMetricRefs;
}

/** Up to 1.3 a gauge has the name of its event. */
function gaugeOf({ event, nixl: { gauge } }: EventRow): { gauge?: MetricRef } {
  return gauge === undefined ? {} : { gauge: { ...gauge, name: event } };
}

function counterOf({ nixl: { counter } }: EventRow): { counter?: MetricRef } {
  return counter === undefined ? {} : { counter };
}

/** 1.2 and 1.3 have the last values of memory only. */
function countersAndMemory(row: EventRow): EventMetricRefs {
  return { ...counterOf(row), ...(row.category === Category.MEMORY ? gaugeOf(row) : {}) };
}

/** OpenTelemetry's exporter ends the name of every counter in `_total`: without it a sum must not be called one. */
function sumsOrGauges(row: EventRow): EventMetricRefs {
  const { counter } = row.nixl;
  if (row.category !== Category.TRANSFER) return gaugeOf(row);
  return counter === undefined ? {} : { upDownCounter: { ...counter, name: row.event } };
}

export const RELEASES = {
  '1.0': { releases: '1.0.0, 1.0.1', types: 8, hasCategory: true, seriesOf: sumsOrGauges },
  '1.2': { releases: '1.1.0, 1.2.0', types: 8, hasCategory: true, seriesOf: countersAndMemory },
  '1.3': { releases: '1.3.0, 1.3.2', types: 8, hasCategory: false, seriesOf: countersAndMemory },
  '1.4': {
    releases: '1.3.1, 1.4.0',
    types: 21,
    hasCategory: false,
    seriesOf: ({ nixl: { counter, gauge } }) => ({ ...(counter && { counter }), ...(gauge && { gauge }) }),
  },
  main: { releases: 'main, commit 8770b655a', types: Infinity, hasCategory: false, seriesOf: ({ nixl }) => nixl },
} satisfies Record<string, ReleaseRow>;

export type NixlRelease = keyof typeof RELEASES;
export const NIXL_RELEASES = Object.keys(RELEASES) as NixlRelease[];
export const DEFAULT_NIXL_RELEASE: NixlRelease = 'main';

/** The series that naming `nixl` has of an event, as that release prints them. */
export function seriesInRelease(release: NixlRelease, row: EventRow): EventMetricRefs {
  const { types, seriesOf }: ReleaseRow = RELEASES[release];
  return row.type < types ? seriesOf(row) : {};
}

/** Whether the release has `agent_errors_total`. */
export function hasErrors(release: NixlRelease): boolean {
  const errors = EVENTS.filter(({ category }) => category === Category.ERROR);
  return errors.some((row) => seriesInRelease(release, row).counter !== undefined);
}
