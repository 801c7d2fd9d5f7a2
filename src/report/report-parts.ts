/** Parts of a report that text and Markdown show: tables and sentences. Pure. */
import { bytesText, bytesRateText, ifKnown, numberText, percent, plural, timeText } from '../ground/figures/figure.js';
import { boundOf } from '../view/sizes/direction-sizes.js';
import { sizeClassText, timeModelText } from '../view/sizes/size-words.js';
import { errorsText, endText, firstTransferText, lossTexts, memoryText, noAgentText } from './report-words.js';
import type { DirectionName, ReportedAgent, ReportedDirection, RunReport } from './run-report.js';

export interface ReportPart {
  readonly title?: string;
  readonly headings?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  /** Below the table; `isList`: each on a line of its own. */
  readonly lines: readonly string[];
  /** Classes of the rows, to be drawn. */
  readonly sizes?: ReportedDirection;
  /** The lines draw the time of the run. */
  readonly isOverTime?: true;
}

/** Agents that a text for people shows; a file of JSON has all. */
const MOST_SHOWN = 8;
const DIRECTIONS: readonly DirectionName[] = ['tx', 'rx'];

export function reportParts(report: RunReport): readonly ReportPart[] {
  const missing = noAgentText(report);
  if (missing !== undefined) return [{ lines: [missing, ...lossTexts(report)] }, ...notesOf(report)];
  const shown = [...report.agents].sort((a, b) => movedBy(b) - movedBy(a)).slice(0, MOST_SHOWN);
  const inOrder = report.agents.filter((agent) => shown.includes(agent));
  const left = report.agents.length - shown.length;
  return [
    agentsPart(inOrder, left),
    ...inOrder.flatMap((agent) => DIRECTIONS.flatMap((direction) => sizesPart(agent, direction))),
    ...listPart('First transfers, apart from the times above', inOrder.map(firstTransferText)),
    ...listPart(
      'Failed operations',
      inOrder.map((agent) => errorsText(agent, report.errorStatuses)),
    ),
    ...listPart('Registered memory', inOrder.map(memoryText)),
    ...linePart(report),
    { title: 'Loss', lines: lossTexts(report) },
    ...notesOf(report),
  ];
}

const movedBy = ({ tx, rx }: ReportedAgent): number => tx.bytes + rx.bytes;

function agentsPart(agents: readonly ReportedAgent[], left: number): ReportPart {
  const rows = agents.flatMap((agent) => {
    const moving = DIRECTIONS.filter((direction) => agent[direction].transfers > 0);
    const shown = moving.length === 0 ? DIRECTIONS.slice(0, 1) : moving;
    return shown.map((direction, i) => {
      const { transfers, bytes, bytesPerSecond, wallBytesPerSecond } = agent[direction];
      const isFirst = i === 0;
      return [
        isFirst ? agent.name : '',
        isFirst ? (agent.rank ?? '') : '',
        isFirst ? (agent.pid?.toString() ?? '') : '',
        direction,
        numberText(transfers),
        bytesText(bytes),
        ifKnown(bytesPerSecond, bytesRateText, ''),
        ifKnown(wallBytesPerSecond, bytesRateText, ''),
        isFirst ? endText(agent) : '',
      ];
    });
  });
  const headings = ['AGENT', 'RANK', 'PID', 'DIR', 'TRANSFERS', 'BYTES', 'IN TRANSFER', 'OVER ALL', 'END'];
  const more = left === 0 ? [] : [`and ${plural(left, 'agent')} that moved less: --report FILE.json has all.`];
  return { ...withoutEmptyColumns(headings, rows), lines: more };
}

/** Most runs have no ranks, and a pid may be unknown. */
function withoutEmptyColumns(headings: readonly string[], rows: readonly (readonly string[])[]) {
  const kept = headings.map((_, i) => i === 0 || rows.some((row) => row[i] !== ''));
  const of = (row: readonly string[]): string[] => row.filter((_, i) => kept[i]);
  return { headings: of(headings), rows: rows.map(of) };
}

function sizesPart(agent: ReportedAgent, direction: DirectionName): readonly ReportPart[] {
  const { classes, model } = agent[direction];
  if (classes.length === 0) return [];
  const rows = classes.map((one) => [
    sizeClassText(boundOf(one.upToBytes)),
    numberText(one.transfers),
    timeText(one.p50Us),
    timeText(one.p90Us),
    timeText(one.p99Us),
    timeText(one.maxUs),
    one.postP50Us === undefined ? '' : timeText(one.postP50Us),
    one.few ? 'few' : '',
  ]);
  return [
    {
      title: `${agent.name} ${direction}: time by size`,
      headings: ['UP TO', 'TRANSFERS', 'P50', 'P90', 'P99', 'MAX', 'POST P50', ''],
      rows,
      lines: [`${timeModelText(model)}${postingText(agent[direction])}`],
      sizes: agent[direction],
    },
  ];
}

function postingText({ posting }: ReportedDirection): string {
  if (posting === undefined) return '';
  return `; posting ${timeText(posting.p50Us)}${posting.share === undefined ? '' : `, ${percent(posting.share)} of the time`}`;
}

function listPart(title: string, lines: readonly (string | undefined)[]): readonly ReportPart[] {
  const known = lines.filter((line) => line !== undefined);
  return known.length === 0 ? [] : [{ title, lines: known }];
}

const BLOCKS = '▁▂▃▄▅▆▇█';
/** Columns of the line, within 80 with its text. */
const LINE_COLUMNS = 60;

/** Bytes of all agents in each step. */
function linePart({ agents, line }: RunReport): readonly ReportPart[] {
  if (line === undefined) return [];
  const moved = Array.from({ length: line.steps }, (_, i) =>
    agents.reduce((sum, { line: own }) => sum + (own?.txBytes[i] ?? 0) + (own?.rxBytes[i] ?? 0), 0),
  );
  const width = Math.max(1, Math.ceil(moved.length / LINE_COLUMNS));
  const bars = Array.from({ length: Math.ceil(moved.length / width) }, (_, i) => {
    const part = moved.slice(i * width, (i + 1) * width);
    return part.reduce((sum, one) => sum + one, 0) / part.length;
  });
  const most = Math.max(...bars, 0);
  if (most === 0) return [];
  const text = bars.map((bar) => (bar === 0 ? ' ' : BLOCKS[Math.min(7, Math.floor((bar / most) * 8))])).join('');
  return [
    {
      title: `Moved over time: up to ${bytesRateText((most * 1000) / line.stepMs)}, each bar ${timeText(width * line.stepMs * 1000)}`,
      lines: [`|${text}|`],
      isOverTime: true,
    },
  ];
}

function notesOf({ notes }: RunReport): readonly ReportPart[] {
  return notes.length === 0 ? [] : [{ title: 'Notes', lines: notes }];
}
