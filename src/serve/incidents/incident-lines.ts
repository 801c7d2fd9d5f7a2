/** Lines about incidents in the log of serve: one at the begin and one at the end, and not so many that they hide all others. Pure. */
import { plural } from '../../ground/figures/figure.js';
import type { IncidentChanges } from '../../view/incidents/incident-log.js';
import { howLongText, isMoment, whenText } from '../../view/incidents/incident-words.js';
import type { Incident } from '../../view/incidents/incident.js';
import { agentsInWords } from '../../view/verdict/past-trouble.js';

export type WriteLine = (text: string, level: 'warning' | 'info') => void;

/** Beyond so many lines in an hour, one line says so. */
const MOST_LINES = 100;
const HOUR_MS = 3_600_000;
/** serve writes about these where it finds them. */
const SAID_ELSEWHERE: ReadonlySet<Incident['kind']> = new Set(['problem', 'state', 'receiver']);

export class IncidentLines {
  readonly #write: WriteLine;
  #hourMs = -Infinity;
  #lines = 0;

  constructor(write: WriteLine) {
    this.#write = write;
  }

  add({ begun, raised, ended }: IncidentChanges, takenMs: number): void {
    if (Math.abs(takenMs - this.#hourMs) >= HOUR_MS) {
      this.#hourMs = takenMs;
      this.#lines = 0;
    }
    for (const incident of [...begun, ...raised]) {
      this.#line(beginText(incident), incident, incident.level === 'alarm' ? 'warning' : 'info');
    }
    for (const incident of ended) if (!isMoment(incident)) this.#line(endText(incident, takenMs), incident, 'info');
  }

  #line(text: string, { kind }: Incident, level: Parameters<WriteLine>[1]): void {
    if (SAID_ELSEWHERE.has(kind)) return;
    this.#lines++;
    if (this.#lines > MOST_LINES + 1) return;
    if (this.#lines <= MOST_LINES) return this.#write(text, level);
    const limit = `${plural(MOST_LINES, 'line')} about incidents in an hour`;
    this.#write(`${limit}: further ones are at /api/v1/incidents`, 'warning');
  }
}

function beginText({ word, sentence, cause }: Incident): string {
  const why = cause === undefined || sentence.includes(cause) ? '' : ` (${cause})`;
  return `${word}: ${sentence}${why}`;
}

function endText(incident: Incident, nowMs: number): string {
  const { word, peak } = incident;
  const agents = agentsInWords(incident);
  const subject = agents === '' ? '' : `${agents}, `;
  const worst = peak === undefined ? '' : `, at worst ${peak.text}`;
  return `${word}, ended: ${subject}${whenText(incident, nowMs)}, for ${howLongText(incident, nowMs)}${worst}`;
}
