/**
 * Limits and defaults of a source's options, which settings and shm-bridge check. The native part has no defaults of its own.
 * Times are in milliseconds; a range is its least and its greatest value.
 */

/** Longest time that the native part computes with; 34 years. */
export const LONGEST_MS = 2 ** 40;

export const DRAIN_INTERVAL_RANGE = [1, 10_000] as const;
export const DEFAULT_DRAIN_INTERVAL_MS = 20;

export const DEAD_TTL_RANGE = [0, LONGEST_MS] as const;
export const DEFAULT_DEAD_TTL_MS = 30_000;

/** 4294967295 is -1, which no user has. */
export const USER_ID_RANGE = [0, 2 ** 32 - 2] as const;

/** Limit of the text that a source keeps with an agent, in bytes, as in native/state/agent_record.h. */
export const MOST_ATTRIBUTE_BYTES = 4096;
