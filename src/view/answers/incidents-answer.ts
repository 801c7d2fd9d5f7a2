/** The answer of /api/v1/incidents: serve makes it, the live page and commands read it. docs/json.md describes it for others. */
import type { Incident } from '../incidents/incident.js';
import { type AgentsAnswer, isAnswerWith } from './answer.js';

/** Path below the address of the page. */
export const INCIDENTS_PATH = 'api/v1/incidents';

export interface IncidentsAnswer extends Pick<AgentsAnswer, 'api' | 'version' | 'hostname' | 'startedMs' | 'takenMs'> {
  /** Newest first. */
  readonly incidents: readonly Incident[];
}

export function isIncidentsAnswer(json: unknown): json is IncidentsAnswer {
  return isAnswerWith(json, 'incidents');
}
