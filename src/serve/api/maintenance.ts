/** Maintenance that operators announce: POST begins or ends it, and it is kept for a day, also over a restart of serve. */
import { oneLine } from '../../ground/one-line.js';
import { parsedJson } from '../../ground/errors.js';
import { note } from '../../process/output.js';
import { LONGEST_MAINTENANCE_MS } from '../../view/verdict/maintenance.js';
import type { Maintenance } from '../../view/verdict/types.js';
import { KeptFile } from '../state/kept-file.js';
import type { StatePlace } from '../state/state-place.js';

const MOST_KEPT = 100;
const MOST_TEXT = 200;
const KEPT_MS = 24 * 60 * 60_000;
const MAINTENANCE_FILE = 'maintenance.json';
const MOST_FILE_BYTES = 2 ** 17;

interface AnnouncedInDay {
  readonly keptMs: number;
  readonly maintenance: readonly Maintenance[];
}

/** A request that is not allowed: the message says what is. */
export class WrongAnnouncement extends Error {}

export class MaintenanceLog {
  readonly #place: StatePlace | undefined;
  readonly #file: KeptFile<AnnouncedInDay> | undefined;
  #all: readonly Maintenance[] | undefined;

  /** Without a place, nothing is kept over a restart. */
  constructor(place: StatePlace | undefined) {
    const options = { name: MAINTENANCE_FILE, version: 1, mostBytes: MOST_FILE_BYTES, isValue: isKept };
    this.#place = place;
    this.#file =
      place &&
      new KeptFile({
        ...options,
        directories: place.directories,
        lackBytes: place.lackBytes,
        complain: place.complain,
      });
  }

  /** Of the last day, newest first. */
  at(nowMs: number): readonly Maintenance[] {
    // Before the first sample, no directory is known.
    if (this.#all === undefined && this.#place?.directories().length === 0) return [];
    this.#all ??= this.#file?.read()?.maintenance ?? [];
    if (this.#all.some(({ endMs }) => nowMs - endMs >= KEPT_MS)) {
      this.#all = this.#all.filter(({ endMs }) => nowMs - endMs < KEPT_MS);
    }
    return this.#all;
  }

  /** Takes the body of a request. @throws WrongAnnouncement */
  take(body: string, nowMs: number): readonly Maintenance[] {
    const { action, forMs = LONGEST_MAINTENANCE_MS, agent, text } = announcementIn(body);
    const of = { ...(agent === undefined ? {} : { agent }), ...(text === undefined ? {} : { text }) };
    const about = `${agent === undefined ? 'all agents' : `agents ${agent}`}${text === undefined ? '' : `: ${text}`}`;
    if (action === 'start') {
      this.#all = [{ beginMs: nowMs, endMs: nowMs + forMs, ...of }, ...this.at(nowMs)].slice(0, MOST_KEPT);
      note(`maintenance begins for ${about}`);
    } else {
      const isOpen = (one: Maintenance): boolean => one.endMs > nowMs && (agent === undefined || one.agent === agent);
      if (!this.at(nowMs).some(isOpen)) throw new WrongAnnouncement('there is no such maintenance now');
      this.#all = this.at(nowMs).map((one) => (isOpen(one) ? { ...one, endMs: nowMs } : one));
      note(`maintenance ends for ${about}`);
    }
    this.#file?.write({ keptMs: nowMs, maintenance: this.#all });
    return this.#all;
  }
}

interface Announcement {
  readonly action: 'start' | 'end';
  readonly forMs?: number;
  readonly agent?: string;
  readonly text?: string;
}

const ALLOWED =
  `an object with action (start or end), and with start: forMs (1 to ${LONGEST_MAINTENANCE_MS}); agent (a glob) and text, ` +
  `each of 1 to ${MOST_TEXT} characters`;

function announcementIn(body: string): Announcement {
  const json = parsedJson(body);
  const { action, forMs, agent, text } = (
    typeof json === 'object' && json !== null ? json : {}
  ) as Partial<Announcement>;
  const isWrong =
    (action !== 'start' && action !== 'end') ||
    (forMs !== undefined && !(Number.isFinite(forMs) && forMs >= 1 && forMs <= LONGEST_MAINTENANCE_MS)) ||
    [agent, text].some((one) => one !== undefined && !isShort(one));
  if (isWrong) throw new WrongAnnouncement(`Allowed: ${ALLOWED}.`);
  return {
    action,
    ...(forMs === undefined ? {} : { forMs }),
    ...(agent === undefined ? {} : { agent: oneLine(agent) }),
    ...(text === undefined ? {} : { text: oneLine(text) }),
  };
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= MOST_TEXT;
}

function isKept(json: object): json is AnnouncedInDay {
  const { keptMs, maintenance } = json as Partial<AnnouncedInDay>;
  return Number.isFinite(keptMs) && Array.isArray(maintenance) && maintenance.every(isMaintenance);
}

function isMaintenance(json: unknown): json is Maintenance {
  if (typeof json !== 'object' || json === null) return false;
  const { beginMs, endMs, agent, text } = json as Partial<Maintenance>;
  const areTexts = [agent, text].every((one) => one === undefined || typeof one === 'string');
  return Number.isFinite(beginMs) && Number.isFinite(endMs) && areTexts;
}
