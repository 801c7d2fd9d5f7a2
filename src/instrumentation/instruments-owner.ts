/** Which instrumentation has its instruments on a MeterProvider: a second one would count everything once more. */

export interface InstrumentsOwner {
  /** For messages. */
  readonly name: string;
  readonly places: string;
}

const OWNERS = Symbol.for('opentelemetry-instrumentation-nixl.instruments');

/** On the global object, so that all copies of this package have the same. */
function owners(): WeakMap<object, InstrumentsOwner> {
  const global = globalThis as { [OWNERS]?: WeakMap<object, InstrumentsOwner> };
  return (global[OWNERS] ??= new WeakMap());
}

/** Returns the one that has them: `owner`, unless another one was first. */
export function claimInstruments(provider: object, owner: InstrumentsOwner): InstrumentsOwner {
  const found = owners().get(provider) ?? owner;
  owners().set(provider, found);
  return found;
}

export function releaseInstruments(provider: object, owner: InstrumentsOwner): void {
  if (owners().get(provider) === owner) owners().delete(provider);
}
