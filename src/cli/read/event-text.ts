/** Events as text, in each format. Pure. */
import type { RingEventKind } from '../../shm-bridge/types.js';
import { harmless, printableJson } from '../process/output.js';
import { categoryWord, eventCategory, eventName } from './event-words.js';

export type ReadFormat = 'text' | 'line' | 'json' | 'csv';
export const READ_FORMATS: readonly ReadFormat[] = ['text', 'line', 'json', 'csv'];

/** What stands around an event's time and value: the same for all events of a kind. Without a time, the first two join. */
export interface EventFrame {
  readonly before: string;
  readonly between: string;
  readonly after: string;
}

/** What comes before the first event. */
export function headerOf(format: ReadFormat): string {
  return format === 'csv' ? 'agent,timestamp,category,event,value\n' : '';
}

export function eventFrame(format: ReadFormat, agent: string, kind: RingEventKind): EventFrame {
  const name = eventName(kind);
  const category = categoryWord(eventCategory(kind));
  const timed = kind.timestamped;
  switch (format) {
    // As the readers in NIXL's examples print it.
    case 'text':
      return {
        before: `\n=== NIXL Telemetry Event ===\n${timed ? 'Timestamp: ' : ''}`,
        between: `${timed ? '\n' : ''}Category: ${category}\nEvent: ${harmless(name)}\nValue: `,
        after: '\n===========================\n',
      };
    case 'line':
      return {
        before: timed ? '' : '-',
        between: ` ${harmless(agent)} ${category} ${harmless(name)} `,
        after: '\n',
      };
    // The value's digits stand as they are: exact, also where a parser makes a double of them.
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

/** A leading = + - @ would be a formula to a spreadsheet. */
function cell(text: string): string {
  const safe = harmless(text);
  const quoted = /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  return /^[=+\-@]/.test(safe) ? `"'${safe.replaceAll('"', '""')}"` : quoted;
}
