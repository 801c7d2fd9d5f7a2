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
export const TALLY_WORDS = ['memoryInUse', 'memoryInUseHigh', 'events', 'sizeClasses'] as const;
export const EVENT_WORDS = ['type', 'category', 'flags', 'count', 'sum', 'sumHigh', 'last'] as const;
export const HISTOGRAM_WORDS = ['start', 'zeros', 'first', 'buckets', 'distance'] as const;
export const DIRECTION_WORDS = ['start', 'classes', 'endedInPost', 'flushSquares', 'flushSquaresHigh'] as const;
export const CLASS_WORDS = [
  'index',
  'count',
  'bytes',
  'bytesHigh',
  'duration',
  'durationHigh',
  'post',
  'postHigh',
] as const;
export const DISTRIBUTION_WORDS = ['zeros', 'first', 'buckets'] as const;

/** Places of the words from the first one of what they describe; those of a histogram from behind its counts. */
export const AgentAt = placesOf(AGENT_WORDS);
export const TallyAt = placesOf(TALLY_WORDS);
export const EventAt = placesOf(EVENT_WORDS);
export const HistogramAt = placesOf(HISTOGRAM_WORDS);
export const DirectionAt = placesOf(DIRECTION_WORDS);
export const ClassAt = placesOf(CLASS_WORDS);
export const DistributionAt = placesOf(DISTRIBUTION_WORDS);
