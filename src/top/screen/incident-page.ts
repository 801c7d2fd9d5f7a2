/** The page of incidents: a title, the headings, and a line each. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { incidentTable } from '../../view/incidents/incident-table.js';
import type { TopIncidents } from '../incidents.js';
import { EMPTY, type Line, piece, plain } from './line.js';

/** `fixed`: lines that do not scroll. */
export function incidentPage(
  incidents: TopIncidents | undefined,
  columns: number,
): { readonly fixed: Line[]; readonly lines: Line[] } {
  const title: Line = [piece('Incidents', 'bold'), piece('  of the last day, the newest first; !: an alarm', 'dim')];
  const { listed, missing } = incidents ?? { listed: [], missing: ['Asking for incidents...'] };
  const notes = missing.map((text) => plain(`  ${oneLine(text)}`));
  if (listed.length === 0) {
    return { fixed: [title, EMPTY], lines: notes.length > 0 ? notes : [plain('  None in the last day.')] };
  }
  const [heading, ...rows] = incidentTable(listed, columns).split('\n');
  const lines = rows.map((row, i): Line => {
    const { level, endMs } = listed[i]!.incident;
    return [piece(row, endMs !== undefined ? 'plain' : level === 'alarm' ? 'warn' : 'info')];
  });
  return { fixed: [title, [piece(heading!, 'dim')]], lines: [...lines, ...notes] };
}
