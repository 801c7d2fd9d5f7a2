/** Formats of events as text. Pure. */
import type { RingEventKind } from '../../shm-bridge/types.js';
import { oneLine, printableJson } from '../../one-line.js';
import { categoryName, nameOf } from './event-filter.js';

export type ReadFormat = 'text' | 'line' | 'json' | 'csv';
export const READ_FORMATS: readonly ReadFormat[] = ['text', 'line', 'json', 'csv'];

/** Returns the text before the first event. */
export function headerOf(format: ReadFormat): string {
  return format === 'csv' ? 'agent,timestamp,category,event,value\n' : '';
}

/**
 * Returns the text around the time and the value, equal for all events of a kind. Without a time, `between` follows `before`
 * directly.
 */
export function eventFrame(format: ReadFormat, agent: string, kind: RingEventKind) {
  const name = nameOf(kind);
  const category = categoryName(kind);
  const timed = kind.timestamped;
  switch (format) {
    // The format of the readers in NIXL's examples.
    case 'text':
      return {
        before: `\n=== NIXL Telemetry Event ===\n${timed ? 'Timestamp: ' : ''}`,
        between: `${timed ? '\n' : ''}Category: ${category}\nEvent: ${oneLine(name)}\nValue: `,
        after: '\n===========================\n',
      };
    case 'line':
      return {
        before: timed ? '' : '-',
        between: ` ${oneLine(agent)} ${category} ${oneLine(name)} `,
        after: '\n',
      };
    // The value has all its digits: they are exact, even if a parser makes a double of them.
    case 'json':
      return {
        before: `{"agent":${printableJson(agent)},${timed ? '"timestamp":"' : ''}`,
        between: `${timed ? '",' : ''}"category":"${category}","event":${printableJson(name)},"value":`,
        after: '}\n',
      };
    case 'csv':
      return { before: `${cell(agent)},`, between: `,${category},${cell(name)},`, after: '\n' };
  }
}

/** Quotes a cell. A leading = + - @ would be a formula in a spreadsheet. */
function cell(text: string): string {
  const safe = oneLine(text);
  const quoted = /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  return /^[=+\-@]/.test(safe) ? `"'${safe.replaceAll('"', '""')}"` : quoted;
}
