/** Formats of events as text. Pure. */
import type { RingEventKind } from '../../shm-bridge/types.js';
import { oneLine, printableJson } from '../../ground/one-line.js';
import { shortCategory, eventNameOf, unitOf } from './event-filter.js';

export type ReadFormat = 'text' | 'line' | 'json' | 'csv';
export const READ_FORMATS: readonly ReadFormat[] = ['text', 'line', 'json', 'csv'];

export interface EventFormat {
  readonly format: ReadFormat;
  /** Times in UTC instead of local time. JSON always has UTC. */
  readonly utc?: boolean;
  /** Units beside the values. */
  readonly units?: boolean;
}

/** Meaning of the time beside an event: written by its agent, seen by read, or absent. */
export type EventTimeKind = 'written' | 'arrived' | 'none';

/** Returns the text before the first event. */
export function headerOf({ format, units }: EventFormat): string {
  return format === 'csv' ? `agent,timestamp,arrived,category,event,value${units === true ? ',unit' : ''}\n` : '';
}

/**
 * Returns the text around the time and the value, equal for all events of a kind. Without a time, `between` follows
 * `before` directly.
 */
export function eventFrame(of: EventFormat, agent: string, kind: RingEventKind, time: EventTimeKind) {
  const { format, units = false } = of;
  const name = eventNameOf(kind);
  const category = shortCategory(kind);
  const unit = units ? unitText(kind) : '';
  const hasTime = time !== 'none';
  const timeKey = { written: '"timestamp":"', arrived: '"arrived":"', none: '' }[time];
  switch (format) {
    // The format of the readers in NIXL's examples, which know no time of arrival.
    case 'text':
      return {
        before: `\n=== NIXL Telemetry Event ===\n${{ written: 'Timestamp: ', arrived: 'Arrived: ', none: '' }[time]}`,
        between: `${hasTime ? '\n' : ''}Category: ${category}\nEvent: ${oneLine(name)}\nValue: `,
        after: `${unit && ` ${unit}`}\n===========================\n`,
      };
    case 'line':
      return {
        before: { written: '', arrived: '~', none: '-' }[time],
        between: ` ${oneLine(agent)} ${category} ${oneLine(name)} `,
        after: `${unit && ` ${unit}`}\n`,
      };
    // The value has all its digits: they are exact, even if a parser makes a double of them.
    case 'json':
      return {
        before: `{"agent":${printableJson(agent)},${timeKey}`,
        between: `${hasTime ? '",' : ''}"category":"${category}","event":${printableJson(name)},"value":`,
        after: `${unit && `,"unit":"${unit}"`}}\n`,
      };
    case 'csv':
      return {
        before: `${cell(agent)},${time === 'arrived' ? ',' : ''}`,
        between: `${time === 'arrived' ? '' : ','},${category},${cell(name)},`,
        after: `${units ? `,${unit}` : ''}\n`,
      };
  }
}

/** Returns `B` or `us`; nothing for numbers of requests, errors or events, and for unknown units. */
function unitText(kind: RingEventKind): string {
  const unit = unitOf(kind);
  return unit === 'By' ? 'B' : unit === 'us' ? unit : '';
}

/** Quotes a cell. A leading = + - @ would be a formula in a spreadsheet. */
function cell(text: string): string {
  const safe = oneLine(text);
  const quoted = /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  return /^[=+\-@]/.test(safe) ? `"'${safe.replaceAll('"', '""')}"` : quoted;
}
