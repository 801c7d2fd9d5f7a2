/** How the producers of this package know each other in a reader, also across copies of the package in one process. */

/** The key under which a producer has its RingReporter. In the registry of symbols, so that all copies have the same. */
export const RING_REPORTER: unique symbol = Symbol.for('opentelemetry-instrumentation-nixl.ring-reporter');

/** Identifies this copy of the package: each copy has its own collector thread, and ids of tallies are unique in one copy only. */
export const THIS_COPY: object = {};

/** Other versions of this package read it, too: fields may come, none may go or change its meaning. */
export interface RingReporter {
  /** For messages. */
  readonly name: string;
  /** Directories and globs that it reads, as one text. */
  readonly places: string;
  /** True when an instrumentation added it to the reader. Such a producer leaves out the rings that others in the reader report. */
  readonly joined: boolean;
  readonly copy: object;
  /** Paths of the rings that it reports at present. Undefined: it reports nothing, being closed or without a source. */
  rings(): ReadonlySet<string> | undefined;
  /** The readings that its reader got last, by id. It keeps them from the first call on, also after its end. */
  reported(): ReadonlyMap<number, unknown>;
}

/** Undefined for producers of others. */
export function ringReporterOf(producer: unknown): RingReporter | undefined {
  if (typeof producer !== 'object' || producer === null) return undefined;
  const found = (producer as { [RING_REPORTER]?: unknown })[RING_REPORTER];
  if (typeof found !== 'object' || found === null) return undefined;
  const { rings, reported } = found as Partial<RingReporter>;
  return typeof rings === 'function' && typeof reported === 'function' ? (found as RingReporter) : undefined;
}

/** A warning that names both. `where`: a reader or a provider. */
export function twoSources(where: string, first: Named, second: Named): string {
  return (
    `${where} has two sources of NIXL metrics: ${first.name} on ${first.places}, and ${second.name} on ${second.places}; ` +
    'rings that both read are reported by the first alone: remove one of the two'
  );
}

type Named = Pick<RingReporter, 'name' | 'places'>;

/** Returns the reporters whose rings the joined producer must leave out: the service's producers, and earlier joined ones. */
export function reportersBefore(own: object, producers: readonly unknown[]): RingReporter[] {
  const place = producers.indexOf(own);
  return producers.flatMap((producer, i) => {
    const reporter = producer === own ? undefined : ringReporterOf(producer);
    return reporter !== undefined && (!reporter.joined || i < place) ? [reporter] : [];
  });
}
