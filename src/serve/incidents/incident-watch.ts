/** Judges the samples of serve, keeps the incidents, and writes their begins and ends into its log. */
import { type IncidentChanges, IncidentLog } from '../../view/incidents/incident-log.js';
import type { Incident } from '../../view/incidents/incident.js';
import type { Finding } from '../../view/verdict/types.js';
import type { KeptFile } from '../state/kept-file.js';
import type { IncidentsOfDay } from './kept-incidents.js';
import { IncidentLines, type WriteLine } from './incident-lines.js';

/** Requests may cause samples more often, whose verdicts differ little. */
const EVERY_MS = 4000;
/** An incident that lasts is written again, so that its last known time is not older than this. */
const WRITE_EVERY_MS = 60_000;

export type OnIncidentChanges = (changes: IncidentChanges, takenMs: number) => void;

interface IncidentWatchOptions {
  readonly write: WriteLine;
  /** Takes the changes, too. */
  readonly onChanges?: OnIncidentChanges | undefined;
  /** Absent if nothing is to be kept over restarts. */
  readonly file?: Pick<KeptFile<IncidentsOfDay>, 'read' | 'write'> | undefined;
}

export class IncidentWatch {
  readonly #log = new IncidentLog();
  readonly #lines: IncidentLines;
  readonly #file: IncidentWatchOptions['file'];
  readonly #onChanges: OnIncidentChanges | undefined;
  #takenMs: number | undefined;
  #writtenMs = -Infinity;
  #isWritten = true;

  constructor({ write, file, onChanges }: IncidentWatchOptions) {
    this.#lines = new IncidentLines(write);
    this.#file = file;
    this.#onChanges = onChanges;
  }

  /** Newest first. */
  get incidents(): readonly Incident[] {
    return this.#log.incidents;
  }

  /** Time of the last sample. */
  get takenMs(): number | undefined {
    return this.#takenMs;
  }

  get lastTrouble(): Incident | undefined {
    return this.#log.lastTrouble;
  }

  /** Takes a sample, if it is time for one. `findings` is called then. */
  take(takenMs: number, findings: () => readonly Finding[]): void {
    const lastMs = this.#takenMs;
    if (lastMs === undefined) this.#restore(takenMs);
    else if (takenMs >= lastMs && takenMs - lastMs < EVERY_MS) return;
    this.#takenMs = takenMs;
    const changes = this.#log.take(takenMs, findings());
    this.#lines.add(changes, takenMs);
    this.#onChanges?.(changes, takenMs);
    const hasChanged = Object.values(changes).some(({ length }) => length > 0);
    const isLate = Math.abs(takenMs - this.#writtenMs) >= WRITE_EVERY_MS && this.#log.hasOpen;
    if (hasChanged || isLate) this.#write();
  }

  close(): void {
    if (this.#log.hasOpen || !this.#isWritten) this.#write();
  }

  #restore(nowMs: number): void {
    const kept = this.#file?.read();
    if (kept !== undefined) this.#log.restore(kept.incidents, kept.keptMs, nowMs);
  }

  #write(): void {
    if (this.#file === undefined || this.#takenMs === undefined) return;
    this.#writtenMs = this.#takenMs;
    this.#isWritten = this.#file.write({ keptMs: this.#takenMs, incidents: this.#log.incidents });
  }
}
