/** Makes the answer of /api/v1/history. Pure. */
import { type BucketRange, LOWEST_BUCKET } from '../history/growth.js';
import { AgentMeasure, columnIn } from '../history/agent-history.js';
import { HEAT, Measure, MEASURES, SIZES } from '../history/fleet-history.js';
import { type KeptPoints, rounded } from '../history/points.js';
import type { Recorder } from '../history/recorder.js';
import { API } from '../../view/answers/answer.js';
import type {
  AgentColumns,
  Column,
  CountColumns,
  FleetColumns,
  HistoryAnswer,
} from '../../view/answers/history-answer.js';

export interface HistoryQuestion {
  /** Only points after this time. */
  readonly fromMs: number;
  readonly startedMs: number;
  readonly takenMs: number;
}

type HistorySource = Pick<Recorder, 'statuses' | 'record'>;

/** Returns the answer without the columns of agents. */
export function fleetAnswer(
  { statuses, record }: HistorySource,
  question: HistoryQuestion,
): Omit<HistoryAnswer, 'agentTimesMs' | 'agents'> {
  const { fromMs, startedMs, takenMs } = question;
  const { points, transferTimes, txSizes, rxSizes } = record.fleet;
  const places = points.after(fromMs);
  return {
    api: API,
    startedMs,
    takenMs,
    timesMs: points.times(places),
    fleet: fleetColumns(points, places, statuses.names),
    transferTimesUs: countColumns(transferTimes, HEAT, fromMs),
    txSizes: countColumns(txSizes, SIZES, fromMs),
    rxSizes: countColumns(rxSizes, SIZES, fromMs),
    events: record.events.after(fromMs),
    blindSpans: record.events.blindSpans,
  };
}

export function agentColumns(id: number, row: Float32Array): AgentColumns {
  const columns = Object.entries(AgentMeasure).map(([name, measure]) => [name, columnIn(row, measure)]);
  return { id, ...(Object.fromEntries(columns) as Record<keyof typeof AgentMeasure, Column>) };
}

function fleetColumns(points: KeptPoints, places: readonly number[], statuses: readonly string[]): FleetColumns {
  const column = (measure: number) => points.column(places, measure);
  const errors = statuses
    .map((status, i) => [status, column(Measure.ERRORS + i)] as const)
    .filter(([, values]) => values.some((value) => value !== null && value > 0));
  const columns = Object.entries(MEASURES).map(([name, measure]) => [name, column(measure)]);
  return {
    ...(Object.fromEntries(columns) as unknown as FleetColumns),
    errors: Object.fromEntries(errors),
    memory: points.column(places, Measure.MEMORY, Math.round),
  };
}

function countColumns(columns: KeptPoints, { scale }: BucketRange, fromMs: number): CountColumns {
  const places = columns.after(fromMs);
  const trimmed = places.map((place) => trimmedCounts(columns.values(place)));
  return {
    scale,
    lowest: LOWEST_BUCKET,
    timesMs: columns.times(places),
    offsets: trimmed.map(({ offset }) => offset),
    counts: trimmed.map(({ counts }) => counts),
  };
}

/** Counts of an agent that flushes rarely are spread over time: fractions. */
function shortened(count: number): number {
  return Number.isInteger(count) ? count : rounded(count);
}

function trimmedCounts(values: ArrayLike<number>): { offset: number; counts: number[] | null } {
  if (Number.isNaN(values[0])) return { offset: 0, counts: null };
  const counts = Array.from(values);
  const first = counts.findIndex((count) => count > 0);
  if (first === -1) return { offset: 0, counts: [] };
  const end = counts.findLastIndex((count) => count > 0) + 1;
  return { offset: first + LOWEST_BUCKET, counts: counts.slice(first, end).map(shortened) };
}
