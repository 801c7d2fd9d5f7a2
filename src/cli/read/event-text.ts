/** Events as text, in each format. Pure. */
import { CATEGORIES, Category, EVENTS } from '../../mapping/index.js';
import type { RingEvent } from '../../shm-bridge/types.js';
import { harmless } from '../output.js';

export type ReadFormat = 'text' | 'line' | 'json' | 'csv';
export const READ_FORMATS: readonly ReadFormat[] = ['text', 'line', 'json', 'csv'];

export interface EventWriter {
  /** What comes before the first event. */
  readonly header: string;
  write(agent: string, event: RingEvent): string;
}

export function eventName({ type, name }: RingEvent): string {
  if (type !== undefined) return EVENTS[type]?.event ?? `type_${type}`;
  return name ?? '';
}

export function eventCategory({ type, category }: RingEvent): number {
  return category ?? (type === undefined ? undefined : EVENTS[type]?.category) ?? Category.CUSTOM;
}

/** Without the prefix that all of them have. */
export function categoryWord(category: number): string {
  return CATEGORIES[category]?.name.replace('NIXL_TELEMETRY_', '') ?? `UNKNOWN_CATEGORY_${category}`;
}

export function eventWriter(format: ReadFormat, utc: boolean): EventWriter {
  const time = timeFormatter(utc);
  const timeOf = ({ timestampUs }: RingEvent): string => (timestampUs === undefined ? '' : time(timestampUs));
  switch (format) {
    case 'text':
      return { header: '', write: (_, event) => block(timeOf(event), event) };
    case 'line':
      return {
        header: '',
        write: (agent, event) =>
          `${timeOf(event) || '-'} ${harmless(agent)} ${words(event).line} ${event.value.toString()}\n`,
      };
    case 'json':
      return { header: '', write: (agent, event) => json(agent, timeOf(event), event) };
    case 'csv':
      return {
        header: 'agent,timestamp,category,event,value\n',
        write: (agent, event) => `${cell(agent)},${timeOf(event)},${words(event).csv},${event.value.toString()}\n`,
      };
  }
}

/** As the readers in NIXL's examples print it. */
function block(time: string, event: RingEvent): string {
  const timestamp = time === '' ? '' : `Timestamp: ${time}\n`;
  return `\n=== NIXL Telemetry Event ===\n${timestamp}${words(event).text}Value: ${event.value.toString()}\n===========================\n`;
}

/** The value's digits stand as they are: exact, also where a parser makes a double of them. */
function json(agent: string, time: string, event: RingEvent): string {
  const timestamp = time === '' ? '' : `"timestamp":"${time}",`;
  return `{"agent":${JSON.stringify(agent)},${timestamp}${words(event).json}"value":${event.value.toString()}}\n`;
}

interface Words {
  readonly text: string;
  readonly line: string;
  readonly json: string;
  readonly csv: string;
}

const known = new Map<string, Words>();
const MAX_KNOWN = 10_000;

/** Category and event in all formats, made once per kind of event. */
function words(event: RingEvent): Words {
  const key = `${event.type ?? ''}\0${event.category ?? ''}\0${event.name ?? ''}`;
  let found = known.get(key);
  if (found === undefined) {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, (found = makeWords(event)));
  }
  return found;
}

function makeWords(event: RingEvent): Words {
  const name = eventName(event);
  const category = categoryWord(eventCategory(event));
  return {
    text: `Category: ${category}\nEvent: ${harmless(name)}\n`,
    line: `${category} ${harmless(name)}`,
    json: `"category":"${category}","event":${JSON.stringify(name)},`,
    csv: `${category},${cell(name)}`,
  };
}

/** A leading = + - @ would be a formula to a spreadsheet. */
function cell(text: string): string {
  const safe = harmless(text);
  const quoted = /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  return /^[=+\-@]/.test(safe) ? `"'${safe.replaceAll('"', '""')}"` : quoted;
}

/** `2026-11-21 06:30:25.123456`, local time, or UTC with a Z at the end. Most events share their second with the last. */
function timeFormatter(utc: boolean): (timestampUs: bigint) => string {
  let second = -1;
  let text = '';
  return (timestampUs) => {
    const us = Number(timestampUs % 1_000_000n);
    const now = Number(timestampUs / 1_000_000n);
    if (now !== second) {
      second = now;
      text = secondText(new Date(now * 1000), utc);
    }
    return `${text}.${String(us).padStart(6, '0')}${utc ? 'Z' : ''}`;
  };
}

function secondText(date: Date, utc: boolean): string {
  if (Number.isNaN(date.getTime())) return 'out-of-range';
  if (utc) return date.toISOString().slice(0, 19).replace('T', ' ');
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
