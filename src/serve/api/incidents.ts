/** The incidents of a running serve: they follow from the same figures and words as the verdict of the live page. */
import { API, type ServeFacts } from '../../view/answers/answer.js';
import type { IncidentsAnswer } from '../../view/answers/incidents-answer.js';
import { verdictInput } from '../../view/answers/verdict-input.js';
import type { Incident } from '../../view/incidents/incident.js';
import { verdictOf } from '../../view/verdict/verdict.js';
import type { FindingCount } from '../../instrumentation/serve-state.js';
import { note } from '../../process/output.js';
import type { HistorySample } from '../history/recorder.js';
import { findingCounts } from '../incidents/finding-counts.js';
import { IncidentWatch, type OnIncidentChanges } from '../incidents/incident-watch.js';
import { keptIncidents } from '../incidents/kept-incidents.js';
import type { StatePlace } from '../state/state-place.js';
import { agentsSummary, type AnswerSource } from './agents.js';

/** No finding needs percentiles, which take most of the time of an answer. */
const NO_TIMES = { of: () => undefined, ofAll: () => undefined };

export class ServeIncidents {
  readonly #watch: IncidentWatch;
  #findings = findingCounts([]);
  readonly #sourceOf: (sample: HistorySample) => AnswerSource;

  constructor(
    place: StatePlace | undefined,
    onChanges: OnIncidentChanges | undefined,
    sourceOf: (sample: HistorySample) => AnswerSource,
  ) {
    this.#sourceOf = sourceOf;
    this.#watch = new IncidentWatch({ write: note, file: place && keptIncidents(place), onChanges });
  }

  take(sample: HistorySample): void {
    this.#watch.take(Math.floor(sample.snapshot.takenMs), () => {
      const answer = agentsSummary({ ...this.#sourceOf(sample), recent: NO_TIMES }, Infinity);
      const { findings } = verdictOf(verdictInput(answer, { name: answer.hostname }));
      this.#findings = findingCounts(findings);
      return findings;
    });
  }

  answer({ version, hostname, startedMs }: ServeFacts): IncidentsAnswer {
    const takenMs = this.#watch.takenMs ?? startedMs;
    return { api: API, version, hostname, startedMs, takenMs, incidents: this.#watch.incidents };
  }

  /** What the last sample shows. */
  get findings(): readonly FindingCount[] {
    return this.#findings;
  }

  get lastTrouble(): Incident | undefined {
    return this.#watch.lastTrouble;
  }

  close(): void {
    this.#watch.close();
  }
}
