/** The file with the incidents of a day. */
import type { Incident } from '../../view/incidents/incident.js';
import { KeptFile } from '../state/kept-file.js';

export interface IncidentsOfDay {
  readonly keptMs: number;
  readonly incidents: readonly Incident[];
}

const INCIDENTS_FILE = 'incidents.json';
const INCIDENTS_VERSION = 1;
/** 500 incidents with long names of agents. */
const MOST_FILE_BYTES = 2 ** 20;

type FilePlace = Pick<
  ConstructorParameters<typeof KeptFile<IncidentsOfDay>>[0],
  'directories' | 'lackBytes' | 'complain'
>;

export function keptIncidents(place: FilePlace): KeptFile<IncidentsOfDay> {
  return new KeptFile<IncidentsOfDay>({
    ...{ name: INCIDENTS_FILE, version: INCIDENTS_VERSION, mostBytes: MOST_FILE_BYTES, isValue: isKeptIncidents },
    ...place,
  });
}

function isKeptIncidents(json: object): json is IncidentsOfDay {
  const { keptMs, incidents } = json as Partial<IncidentsOfDay>;
  return isTime(keptMs) && Array.isArray(incidents) && incidents.every(isIncident);
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isText = (value: unknown): value is string => typeof value === 'string';

function isIncident(json: unknown): json is Incident {
  if (typeof json !== 'object' || json === null) return false;
  const { kind, level, word, sentence, agents, agentCount, beginMs, saidMs, endMs, peak, cause } = json as Incident;
  return (
    [kind, word, sentence].every(isText) &&
    (level === 'alarm' || level === 'note') &&
    Array.isArray(agents) &&
    agents.every(isText) &&
    [agentCount, beginMs, saidMs].every(isTime) &&
    (endMs === undefined || isTime(endMs)) &&
    (peak === undefined || (isTime(peak?.value) && isText(peak.text))) &&
    (cause === undefined || isText(cause))
  );
}
