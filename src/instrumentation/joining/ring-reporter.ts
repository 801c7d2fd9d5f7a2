/** Contract by which producers of this package find each other in a reader, also across copies of the package in one process. */

/** Key of a producer's RingReporter. In the registry of symbols, so that all copies share it. */
export const RING_REPORTER: unique symbol = Symbol.for('opentelemetry-instrumentation-nixl.ring-reporter');

/** Identifies this copy of the package: ids of tallies are unique within a copy, which has its own collector thread. */
export const THIS_COPY: object = {};

/** Other versions of this package read it, too: fields may be added, but never removed or redefined. */
export interface RingReporter {
  /** Name for messages. */
  readonly name: string;
  /** Directories and globs that it reads, as one text. */
  readonly places: string;
  /** True when an instrumentation added it to the reader. Such a producer omits the rings that others in the reader report. */
  readonly joined: boolean;
  readonly copy: object;
  /** Returns paths of the currently reported rings. Undefined if the producer is closed or has no source. */
  rings(): ReadonlySet<string> | undefined;
  /** Returns the last readings of its reader by id. From the first call on they are kept, also after its end. */
  reported(): ReadonlyMap<number, unknown>;
}

export type NamedReporter = Pick<RingReporter, 'name' | 'places'>;

/** Returns undefined for producers of other packages. */
function ringReporterOf(producer: unknown): RingReporter | undefined {
  if (typeof producer !== 'object' || producer === null) return undefined;
  const found = (producer as { [RING_REPORTER]?: unknown })[RING_REPORTER];
  if (typeof found !== 'object' || found === null) return undefined;
  const { rings, reported } = found as Partial<RingReporter>;
  return typeof rings === 'function' && typeof reported === 'function' ? (found as RingReporter) : undefined;
}

/** Returns a warning that names both. `where`: a reader or a provider. */
export function twoSources(where: string, first: NamedReporter, second: NamedReporter): string {
  return (
    `${where} has two sources of NIXL metrics: ${first.name} on ${first.places}, and ${second.name} on ${second.places}; ` +
    'only the first exports the rings that both read: remove one of the two'
  );
}

/** Returns the reporters that precede the joined producer `own`: those of the service, and earlier joined ones. */
export function reportersBefore(own: object, producers: readonly unknown[]): RingReporter[] {
  const place = producers.indexOf(own);
  return producers.flatMap((producer, i) => {
    const reporter = producer === own ? undefined : ringReporterOf(producer);
    return reporter !== undefined && (!reporter.joined || i < place) ? [reporter] : [];
  });
}
