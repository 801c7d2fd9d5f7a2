/** The order of the addon's words, as in native/addon/words.h, which describes them. A test compares both. */

function placesOf<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, place) => [name, place])) as Record<Name, number>;
}

export const AGENT_WORDS = [
  'words',
  'layout',
  'id',
  'wireVersion',
  'capacity',
  'life',
  'pid',
  'startTimeMs',
  'lastEventMs',
  'flags',
  'writers',
  'foundAtDrain',
  'peakFound',
  'foundFull',
  'foundFullMs',
  'restarts',
  'resyncs',
  'foreignMoves',
  'refused',
  'flushIntervalMs',
] as const;
export const TALLY_WORDS = ['memoryInUse', 'memoryInUseHigh', 'events'] as const;
export const EVENT_WORDS = ['type', 'category', 'flags', 'count', 'sum', 'sumHigh', 'last'] as const;
export const HISTOGRAM_WORDS = ['start', 'zeros', 'first', 'buckets', 'distance'] as const;

/** Places of the words from the first one of an agent, a tally, an event, and behind the counts of a histogram. */
export const AgentAt = placesOf(AGENT_WORDS);
export const TallyAt = placesOf(TALLY_WORDS);
export const EventAt = placesOf(EVENT_WORDS);
export const HistogramAt = placesOf(HISTOGRAM_WORDS);
