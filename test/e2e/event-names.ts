import { EVENTS } from '../../src/mapping/index.js';

/** Event names by type number. */
export const eventTable: readonly string[] = EVENTS.map((row) => row.event);
