/**
 * Series and labels of NIXL's own exporters: those of `agent_*` in naming `nixl`. Series have one row per group of
 * releases, from the output of their Prometheus exporters. Labels have one row per exporter.
 */
import { Category } from '../ground/tally.js';
import { AttributeRegistry, type AttributeSpec } from './attributes.js';
import { type EventMetricRefs, type EventRow, EVENTS, type MetricRef } from './events.js';
import { prometheusSpelling } from './naming.js';

interface ReleaseRow {
  /** Releases with these series. */
  readonly releases: string;
  /** Number of event types that have series, from type 0 on. A type of a later release has none here. */
  readonly types: number;
  /** True if the series carry the label `category`. */
  readonly hasCategory: boolean;
  /** Returns the series of one event. `main` has the names of the event table. */
  readonly seriesOf: (row: EventRow) => EventMetricRefs;
}

/** Returns the gauge under the name of its event, as releases up to 1.3 print it. */
function gaugeOf({ event, nixl: { gauge } }: EventRow): MetricRef | undefined {
  return gauge && { ...gauge, name: event };
}

/** Releases 1.2 and 1.3 have no gauges but those of memory. */
function countersAndMemory(row: EventRow): EventMetricRefs {
  return { counter: row.nixl.counter, gauge: row.category === Category.MEMORY ? gaugeOf(row) : undefined };
}

/** A sum without `_total` cannot be a counter: OpenTelemetry's Prometheus exporter would append `_total` to its name. */
function sumsOrGauges(row: EventRow): EventMetricRefs {
  const { counter } = row.nixl;
  if (row.category !== Category.TRANSFER) return { gauge: gaugeOf(row) };
  return { upDownCounter: counter && { ...counter, name: row.event } };
}

export const RELEASES = {
  '1.0': { releases: '1.0.0, 1.0.1', types: 8, hasCategory: true, seriesOf: sumsOrGauges },
  '1.2': { releases: '1.1.0, 1.2.0', types: 8, hasCategory: true, seriesOf: countersAndMemory },
  '1.3': { releases: '1.3.0, 1.3.2', types: 8, hasCategory: false, seriesOf: countersAndMemory },
  '1.4': {
    releases: '1.3.1, 1.4.0',
    types: 21,
    hasCategory: false,
    seriesOf: ({ nixl: { counter, gauge } }) => ({ counter, gauge }),
  },
  main: {
    releases: '1.5.1, main at commit 8770b655a',
    types: Infinity,
    hasCategory: false,
    seriesOf: ({ nixl }) => nixl,
  },
} satisfies Record<string, ReleaseRow>;

export type NixlRelease = keyof typeof RELEASES;
export const NIXL_RELEASES = Object.keys(RELEASES) as NixlRelease[];
export const DEFAULT_NIXL_RELEASE: NixlRelease = 'main';

/** Returns the series of an event in naming `nixl`, as that release prints them. */
export function seriesInRelease(release: NixlRelease, row: EventRow): EventMetricRefs {
  const { types, seriesOf }: ReleaseRow = RELEASES[release];
  return row.type < types ? seriesOf(row) : {};
}

/** Returns whether the release has `agent_errors_total`. */
export function hasErrors(release: NixlRelease): boolean {
  const errors = EVENTS.filter(({ category }) => category === Category.ERROR);
  return errors.some((row) => seriesInRelease(release, row).counter !== undefined);
}

export const NIXL_LABELS = ['prometheus', 'prometheus_mp'] as const;
export type NixlLabels = (typeof NIXL_LABELS)[number];
export const DEFAULT_NIXL_LABELS: NixlLabels = 'prometheus';

/** Labels beside `hostname` and `agent_name`. Their values are empty if the agent's process cannot be seen. */
const LABEL_SPECS: Readonly<Record<NixlLabels, readonly AttributeSpec[]>> = {
  prometheus: [],
  prometheus_mp: [
    { name: 'pid', source: 'pid', type: 'text', default: '' },
    { name: 'agent_instance', source: 'agent_instance', type: 'text', default: '' },
    { name: 'local_rank', source: 'local_rank', type: 'text', default: '' },
  ],
};

export function nixlLabelRegistry(labels: NixlLabels): AttributeRegistry {
  return new AttributeRegistry(LABEL_SPECS[labels]);
}

/** Returns the label that an attribute of this name would collide with. */
export function takenNixlLabel(labels: NixlLabels, attribute: string): string | undefined {
  return LABEL_SPECS[labels].find(({ name }) => prometheusSpelling(name) === prometheusSpelling(attribute))?.name;
}
