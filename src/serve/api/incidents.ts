/** The incidents of a running serve: they follow from the same figures and words as the verdict of the live page. */
import { API, type ServeFacts } from '../../view/answers/answer.js';
import type { IncidentsAnswer } from '../../view/answers/incidents-answer.js';
import { verdictInput } from '../../view/answers/verdict-input.js';
import type { Incident } from '../../view/incidents/incident.js';
import { verdictOf } from '../../view/verdict/verdict.js';
import { note, warnOnce } from '../../process/output.js';
import type { HistorySample } from '../history/recorder.js';
import { IncidentWatch } from '../incidents/incident-watch.js';
import { keptIncidents } from '../incidents/kept-incidents.js';
import { agentsSummary, type AnswerSource } from './agents.js';

export class ServeIncidents {
  readonly #watch: IncidentWatch;
  readonly #sourceOf: (sample: HistorySample) => AnswerSource;
  #sample: HistorySample | undefined;

  constructor(keepsState: boolean, sourceOf: (sample: HistorySample) => AnswerSource) {
    this.#sourceOf = sourceOf;
    const file = keptIncidents({
      directories: () => directoriesOf(this.#sample),
      lackBytes: (directory) => lackIn(directory, this.#sample),
      complain: warnOnce(),
    });
    this.#watch = new IncidentWatch({ write: note, file: keepsState ? file : undefined });
  }

  take(sample: HistorySample): void {
    this.#sample = sample;
    this.#watch.take(Math.floor(sample.snapshot.takenMs), () => {
      const answer = agentsSummary(this.#sourceOf(sample), Infinity);
      return verdictOf(verdictInput(answer, { name: answer.hostname })).findings;
    });
  }

  answer({ version, hostname, startedMs }: ServeFacts): IncidentsAnswer {
    const takenMs = this.#watch.takenMs ?? startedMs;
    return { api: API, version, hostname, startedMs, takenMs, incidents: this.#watch.incidents };
  }

  get lastTrouble(): Incident | undefined {
    return this.#watch.lastTrouble;
  }

  close(): void {
    this.#watch.close();
  }
}

/** Returns those of the settings, then those that globs found. */
function directoriesOf(sample: HistorySample | undefined): string[] {
  const { snapshot, agents = [] } = sample ?? {};
  const given = (snapshot?.places ?? []).filter(({ isGlob }) => !isGlob).map(({ path }) => path);
  return [...new Set([...given, ...agents.map(({ directory }) => directory)])];
}

/** The bytes are those of all rings of its file system. */
function lackIn(directory: string, sample: HistorySample | undefined): number {
  const places = sample?.snapshot.places ?? [];
  const own = places.find(({ path }) => path === directory);
  return own?.space.lackBytes ?? Math.max(0, ...places.map(({ space }) => space.lackBytes));
}
