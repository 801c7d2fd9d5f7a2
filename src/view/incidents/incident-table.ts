/** Incidents as a table, and as objects for JSON. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { cut, pad, widthOf } from '../figures/table.js';
import type { Incident } from './incident.js';
import { agentsInWords } from '../verdict/past-trouble.js';
import { howLongText, whenText } from './incident-words.js';

export interface ListedIncident {
  /** Host and port that were asked, if several were. */
  readonly host?: string;
  readonly incident: Incident;
  /** Time of the answer. */
  readonly takenMs: number;
}

const HEADINGS = ['', 'WHEN', 'FOR', 'KIND', 'AGENTS', 'WORST', 'WHAT'];
const GAP = 2;
const LEAST_SENTENCE = 20;

/** `width`: of the terminal, if it is one: the sentences, which come last, are cut. */
export function incidentTable(listed: readonly ListedIncident[], width?: number): string {
  const hasHosts = listed.some(({ host }) => host !== undefined);
  const headings = hasHosts ? ['', 'HOST', ...HEADINGS.slice(1)] : HEADINGS;
  const rows = listed.map(({ host = '', incident, takenMs }) => {
    const [mark, ...cells] = cellsOf(incident, takenMs);
    return hasHosts ? [mark!, host, ...cells] : [mark!, ...cells];
  });
  const widths = headings.map((heading, i) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[i]!)), heading.length),
  );
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP, 0);
  const room = width === undefined ? Infinity : Math.max(LEAST_SENTENCE, width - before);
  const line = (cells: readonly string[]): string => {
    const padded = cells.slice(0, -1).map((cell, i) => pad(cell, widths[i]! + GAP));
    return `${padded.join('')}${cut(cells.at(-1)!, room)}`;
  };
  return [headings, ...rows].map(line).join('\n');
}

function cellsOf(incident: Incident, takenMs: number): string[] {
  const { level, kind, peak, sentence } = incident;
  return [
    level === 'alarm' ? '!' : '',
    whenText(incident, takenMs),
    howLongText(incident, takenMs),
    kind,
    oneLine(agentsInWords(incident)),
    peak?.text ?? '',
    oneLine(sentence),
  ];
}

/** Returns an object for each, which docs/json.md describes. */
export function incidentObjects(listed: readonly ListedIncident[]): Record<string, unknown>[] {
  return listed.map(({ host, incident }) => ({ ...(host !== undefined && { host }), ...incident }));
}
