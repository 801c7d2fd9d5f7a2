/** Time by size as a table, and as objects for JSON. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { dateAndTime, spanText } from '../../ground/figures/clock.js';
import { bytesText, numberText, timeText } from '../../ground/figures/figure.js';
import { table } from '../../view/figures/table.js';
import { type FittedColumn, fittedTable } from './fitted-table.js';
import { boundOf, type DirectionSizes, type JsonClass } from '../../view/sizes/direction-sizes.js';
import { type Ways, wayText } from '../../way/way.js';
import { sizeClassText, timeModelText } from '../../view/sizes/size-words.js';

/** Time by size of one agent. */
export interface ListedSizes {
  readonly agent: string;
  /** Unique among the listed agents. */
  readonly name: string;
  readonly directory: string;
  /** Host and port that were asked, if several were. */
  readonly host?: string;
  /** Time of the counts. */
  readonly takenMs: number;
  /** Span of the window; absent without a window. */
  readonly recentMs?: number;
  /** Of what the counts are, for a reader; absent for counts of now. */
  readonly source?: string;
  /** Last known way of its bytes, from a running serve. */
  readonly way?: Ways;
  readonly tx: DirectionSizes;
  readonly rx: DirectionSizes;
}

const DIRECTIONS = ['tx', 'rx'] as const;
type Direction = (typeof DIRECTIONS)[number];

const COLUMNS: readonly FittedColumn[] = [
  { key: 'agent', heading: 'AGENT' },
  { key: 'direction', heading: 'DIR' },
  { key: 'upTo', heading: 'UP TO' },
  { key: 'transfers', heading: 'TRANSFERS' },
  { key: 'bytes', heading: 'BYTES', leaveOut: 1 },
  { key: 'p50', heading: 'P50' },
  { key: 'p99', heading: 'P99', leaveOut: 2 },
  { key: 'post', heading: 'POST P50', leaveOut: 3 },
  { key: 'way', heading: 'WAY', leaveOut: 4 },
  { key: 'few', heading: '' },
];

/** Returns lines: for each direction of an agent its classes, and then its line. `width`: of the terminal, if it is one. */
export function sizeTable(agents: readonly ListedSizes[], width?: number): string[] {
  const parts = agents.flatMap(partsOf);
  const isShown = ({ key }: FittedColumn): boolean => key !== 'way' || agents.some(({ way }) => way !== undefined);
  const columns = COLUMNS.filter(isShown);
  const rows = parts.map(({ cells }) => cells.filter((_, i) => isShown(COLUMNS[i]!)));
  const headings = columns.map(({ heading }) => heading);
  const text = width === undefined ? table(headings, rows) : fittedTable(columns, rows, width);
  const [heading, ...lines] = text.split('\n') as [string, ...string[]];
  return [heading, ...lines.flatMap((line, i) => [line, ...parts[i]!.below])].map((line) => line.trimEnd());
}

interface ClassRow {
  readonly cells: readonly string[];
  /** Lines below that of the cells. */
  readonly below: readonly string[];
}

function partsOf(agent: ListedSizes): ClassRow[] {
  const name = oneLine(agent.host === undefined ? agent.name : `${agent.name} ${agent.host}`);
  const source = agent.source === undefined ? [] : [`  ${agent.source} ${dateAndTime(agent.takenMs)}`];
  const moving = DIRECTIONS.filter((direction) => agent[direction].classes.length > 0);
  if (moving.length === 0) return [{ cells: [name, '', '', '0', '', '', '', '', '', ''], below: source }];
  return moving.flatMap((direction) => {
    const { classes } = agent[direction];
    const below = [lineBelow(direction, agent), ...(direction === moving.at(-1) ? source : [])];
    return classes.map((one): ClassRow => {
      return {
        cells: [name, direction, ...cellsOf(one), wayIn(agent, direction), one.few ? 'few' : ''],
        below: one === classes.at(-1) ? below : [],
      };
    });
  });
}

/** Returns `unknown` where other ways are known. */
function wayIn({ way }: ListedSizes, direction: Direction): string {
  const one = way?.[direction];
  return one === undefined ? '' : (wayText(one) ?? 'unknown');
}

function cellsOf({ upToBytes, transfers, bytes, p50Us, p99Us, postP50Us }: JsonClass): string[] {
  return [
    sizeClassText(boundOf(upToBytes)),
    numberText(transfers),
    bytesText(bytes),
    timeText(p50Us),
    timeText(p99Us),
    timeText(postP50Us),
  ];
}

function lineBelow(direction: Direction, agent: ListedSizes): string {
  const { model, portShare, posting, recent } = agent[direction];
  const isRecent = agent.recentMs !== undefined && recent.length > 0;
  const span = isRecent ? `last ${spanText(agent.recentMs, Math.round)}` : 'all so far';
  return `  ${direction}, ${span}: ${timeModelText(model, portShare)}${posting === undefined ? '' : `; posting ${timeText(posting.p50Us)}`}`;
}

/** Returns an object for each class since the counts began, and for each line. Absent: not known. */
export function sizeObjects(agents: readonly ListedSizes[]): Record<string, unknown>[] {
  return agents.flatMap((agent) => DIRECTIONS.flatMap((direction) => objectsOf(agent, direction)));
}

function objectsOf(listed: ListedSizes, direction: Direction): Record<string, unknown>[] {
  const { agent, host, directory, takenMs, way } = listed;
  const text = way?.[direction] && wayText(way[direction]);
  const { classes, model, portShare } = listed[direction];
  const about = {
    agent,
    ...(host !== undefined && { host }),
    directory,
    direction,
    takenMs: Math.round(takenMs),
    ...(text !== undefined && { way: text }),
  };
  const objects = classes.map(({ upToBytes, transfers, bytes, p50Us, p99Us, postP50Us }) => {
    return { type: 'class', ...about, upToBytes, transfers, bytes, p50Us, p99Us, postP50Us };
  });
  if (model.kind !== 'line') return objects;
  const { baseUs, bytesPerSecond } = model;
  return [
    ...objects,
    { type: 'line', ...about, baseUs, bytesPerSecond, ...(portShare !== undefined && { portShare }) },
  ];
}
