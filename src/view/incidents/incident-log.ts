/** Makes incidents of the findings of successive samples, and keeps them for a day. Pure. */
import { levelOf } from '../verdict/shapes.js';
import type { Finding, FindingKind, Level } from '../verdict/types.js';
import { type Incident, INCIDENTS_KEPT_MS } from './incident.js';

/** A finding that is absent for less time is the same incident. */
export const HOLD_MS = 60_000;
/** Each return within an hour doubles that time, so that a finding that comes and goes all night is a few incidents. */
const RETURN_MS = 3_600_000;
const LONGEST_HOLD_MS = 30 * 60_000;
/** After a longer time without serve, the same finding is another incident. */
const CONTINUED_MS = 10 * 60_000;

const MOST_INCIDENTS = 500;
const MOST_NAMED = 20;
/** Agents by which a finding is recognised: without a limit, each restart of a fleet with fresh names would add to an incident. */
const MOST_RECOGNISED = 2000;

/** Nothing is wrong with these. */
const NO_INCIDENTS: ReadonlySet<FindingKind> = new Set(['none', 'measuring', 'well']);

/** Changes by one sample. */
export interface IncidentChanges {
  readonly begun: readonly Incident[];
  /** Those that were notes and are alarms now. */
  readonly raised: readonly Incident[];
  /** Those that have been absent for long enough to have ended. */
  readonly ended: readonly Incident[];
}

type Changing<T> = { -readonly [Key in keyof T]: T[Key] };
type Entry = Changing<Omit<Incident, 'agents' | 'agentCount'>> & {
  readonly names: Set<string>;
  /** Further agents, of which an earlier process has kept the number only. */
  unnamed: number;
  readonly holdMs: number;
  /** The end of the hold of an absent one. */
  heldUntilMs?: number | undefined;
  /** It has ended, and a further finding is another incident. */
  isOver: boolean;
};

export class IncidentLog {
  /** In the order of their first samples. */
  #entries: Entry[] = [];
  /** Those that are not over, by kind and agent. */
  #open = new Map<string, Entry>();
  #lastMs = -Infinity;

  /** Newest first. */
  get incidents(): Incident[] {
    return this.#entries.map(incidentOf).reverse();
  }

  /** True while any holds, or may still return. */
  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The newest alarm that has ended. */
  get lastTrouble(): Incident | undefined {
    const last = this.#entries.findLast(({ level, endMs }) => level === 'alarm' && endMs !== undefined);
    return last && incidentOf(last);
  }

  /** Takes the findings of a sample. */
  take(takenMs: number, findings: readonly Finding[]): IncidentChanges {
    if (takenMs < this.#lastMs) this.#setBack(this.#lastMs - takenMs, takenMs);
    this.#lastMs = takenMs;
    const begun = new Set<Entry>();
    const raised = new Set<Entry>();
    const present = new Set<Entry>();
    for (const finding of findings) {
      if (!isIncident(finding)) continue;
      let entry = this.#entryOf(finding);
      if (entry === undefined) {
        entry = this.#begin(finding, takenMs);
        if (entry === undefined) continue;
        begun.add(entry);
      } else if (levelOf(finding) === 'alarm' && entry.level === 'note') {
        entry.level = 'alarm';
        raised.add(entry);
      }
      continueWith(entry, finding, present.has(entry));
      present.add(entry);
      for (const key of keysOf(finding)) if (entry.names.size <= MOST_RECOGNISED) this.#open.set(key, entry);
    }
    const ended = this.#endAbsent(present, takenMs);
    this.#entries = this.#entries.filter(({ isOver, endMs }) => !isOver || takenMs - endMs! < INCIDENTS_KEPT_MS);
    return {
      begun: this.#entries.filter((entry) => begun.has(entry)).map(incidentOf),
      raised: [...raised].filter((entry) => !begun.has(entry)).map(incidentOf),
      ended: ended.map(incidentOf),
    };
  }

  /** Continues a log that another process kept until `keptMs`. Those without an end were cut by the end of that process. */
  restore(incidents: readonly Incident[], keptMs: number, nowMs: number): void {
    for (const incident of [...incidents].slice(0, MOST_INCIDENTS).reverse()) {
      const { kind, agents, agentCount, endMs } = incident;
      const wasOpen = endMs === undefined;
      const cut = wasOpen ? ({ endMs: keptMs, untilServeEnded: true } as const) : {};
      const isOver = !wasOpen || Math.abs(nowMs - keptMs) > CONTINUED_MS;
      const unnamed = agentCount - agents.length;
      const entry: Entry = { ...incident, ...cut, names: new Set(agents), unnamed, holdMs: HOLD_MS, isOver };
      this.#entries.push(entry);
      if (!isOver) for (const key of keysOf({ kind, names: agents })) this.#open.set(key, entry);
    }
  }

  /** Returns the incident that the finding continues. One finding may join several. */
  #entryOf(finding: Finding): Entry | undefined {
    const found = new Set(keysOf(finding).flatMap((key) => this.#open.get(key) ?? []));
    const [first, ...others] = [...found].sort((a, b) => a.saidMs - b.saidMs);
    if (first === undefined) return undefined;
    for (const other of others) {
      joinInto(first, other);
      for (const [key, entry] of this.#open) if (entry === other) this.#open.set(key, first);
    }
    if (others.length > 0) this.#entries = this.#entries.filter((entry) => !others.includes(entry));
    return first;
  }

  /** Returns undefined if there is no room: so many findings at once say nothing more. */
  #begin(finding: Finding, takenMs: number): Entry | undefined {
    if (this.#entries.length >= MOST_INCIDENTS && !this.#makeRoomFor(levelOf(finding))) return undefined;
    const { kind, word, sentence, sinceMs = takenMs, names = [] } = finding;
    const isEarlier = (entry: Entry): boolean =>
      entry.kind === kind &&
      takenMs - entry.endMs! < RETURN_MS &&
      (names.length === 0 ? entry.names.size === 0 : names.some((name) => entry.names.has(name)));
    const earlier = this.#entries.findLast((entry) => entry.isOver && isEarlier(entry));
    const entry: Entry = {
      kind,
      level: levelOf(finding),
      word,
      sentence,
      names: new Set(),
      unnamed: 0,
      beginMs: Math.min(sinceMs, takenMs),
      saidMs: takenMs,
      holdMs: earlier === undefined ? HOLD_MS : Math.min(2 * earlier.holdMs, LONGEST_HOLD_MS),
      isOver: false,
    };
    this.#entries.push(entry);
    return entry;
  }

  /** Forgets one that is over: the oldest note, or for an alarm the oldest. */
  #makeRoomFor(level: Level): boolean {
    const over = this.#entries.filter(({ isOver }) => isOver);
    const least = over.find((entry) => entry.level === 'note') ?? (level === 'alarm' ? over[0] : undefined);
    this.#entries = this.#entries.filter((entry) => entry !== least);
    return least !== undefined;
  }

  /** Returns those that are over now. */
  #endAbsent(present: ReadonlySet<Entry>, takenMs: number): Entry[] {
    const over = new Set<Entry>();
    for (const entry of new Set(this.#open.values())) {
      if (present.has(entry)) continue;
      entry.endMs ??= takenMs;
      entry.heldUntilMs ??= takenMs + entry.holdMs;
      if (takenMs < entry.heldUntilMs) continue;
      entry.isOver = true;
      over.add(entry);
    }
    if (over.size > 0) this.#open = new Map([...this.#open].filter(([, entry]) => !over.has(entry)));
    // Another process has said all that it knew of these.
    return [...over].filter(({ untilServeEnded }) => untilServeEnded !== true);
  }

  /** A time after the present one was read from a clock that was ahead by the step. */
  #setBack(stepMs: number, nowMs: number): void {
    const corrected = (ms: number): number => (ms > nowMs ? ms - stepMs : ms);
    for (const entry of this.#entries) {
      entry.beginMs = corrected(entry.beginMs);
      entry.saidMs = corrected(entry.saidMs);
      if (entry.endMs !== undefined) entry.endMs = corrected(entry.endMs);
      if (entry.heldUntilMs !== undefined) entry.heldUntilMs = Math.min(entry.heldUntilMs, nowMs + entry.holdMs);
    }
  }
}

/** A note about a file or directory says how serve is set up. */
function isIncident(finding: Finding): boolean {
  return !NO_INCIDENTS.has(finding.kind) && !(finding.kind === 'problem' && levelOf(finding) === 'note');
}

function continueWith(entry: Entry, finding: Finding, isFurther: boolean): void {
  const { sentence, word, sinceMs, names = [], size, cause } = finding;
  delete entry.endMs;
  delete entry.untilServeEnded;
  delete entry.heldUntilMs;
  entry.unnamed = 0;
  for (const name of names) if (entry.names.size < MOST_RECOGNISED) entry.names.add(name);
  if (sinceMs !== undefined && sinceMs < entry.beginMs) entry.beginMs = sinceMs;
  const isWorst = size !== undefined && size.value >= (entry.peak?.value ?? -Infinity);
  if (isWorst) entry.peak = size;
  // Findings of one sample come in the order of their weight.
  else if (isFurther || entry.peak !== undefined) return;
  Object.assign(entry, { sentence, word, ...(cause === undefined ? {} : { cause }) });
}

function joinInto(entry: Entry, other: Entry): void {
  for (const name of other.names) if (entry.names.size < MOST_RECOGNISED) entry.names.add(name);
  entry.beginMs = Math.min(entry.beginMs, other.beginMs);
  if (other.level === 'alarm') entry.level = 'alarm';
  if ((other.peak?.value ?? -Infinity) <= (entry.peak?.value ?? -Infinity)) return;
  const { peak, sentence, word, cause } = other;
  Object.assign(entry, { peak, sentence, word, ...(cause === undefined ? {} : { cause }) });
}

function keysOf({ kind, names = [] }: Pick<Finding, 'kind' | 'names'>): string[] {
  return names.length === 0 ? [kind] : names.map((name) => `${kind} ${name}`);
}

function incidentOf(entry: Entry): Incident {
  const { kind, level, word, sentence, beginMs, saidMs, endMs, untilServeEnded, peak, cause, names, unnamed } = entry;
  return {
    ...{ kind, level, word, sentence, agents: [...names].slice(0, MOST_NAMED), agentCount: names.size + unnamed },
    ...{ beginMs, saidMs },
    ...(endMs === undefined ? {} : { endMs }),
    ...(untilServeEnded === undefined ? {} : { untilServeEnded }),
    ...(peak === undefined ? {} : { peak }),
    ...(cause === undefined ? {} : { cause }),
  };
}
