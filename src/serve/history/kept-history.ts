/** What a restart of serve keeps of the history. Agents have other ids in the next process, and the same names. Pure. */
import type { AgentColumns, BlindSpan, HistoryAnswer } from '../../view/answers/history-answer.js';
import { AgentMeasure } from './agent-history.js';
import { MEASURES } from './fleet-history.js';

export interface KeptHistory extends Pick<
  HistoryAnswer,
  'timesMs' | 'fleet' | 'transferTimesUs' | 'txSizes' | 'rxSizes' | 'events' | 'agentTimesMs'
> {
  /** Time of the newest sample. */
  readonly keptMs: number;
  readonly blindSpans: readonly BlindSpan[];
  readonly agents: readonly AgentPast[];
}

export type AgentPast = Omit<AgentColumns, 'id'> & { readonly name: string };

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isTimes = (value: unknown): value is number[] => Array.isArray(value) && value.every(isNumber);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns true if it has the shape of a history, whatever it holds. */
export function isKeptHistory(json: object): json is KeptHistory {
  const { keptMs, timesMs, fleet, events, blindSpans, agentTimesMs, agents, ...counts } = json as KeptHistory;
  return (
    isNumber(keptMs) &&
    isTimes(timesMs) &&
    isTimes(agentTimesMs) &&
    hasColumns(fleet, Object.keys(MEASURES), timesMs.length) &&
    hasColumns(fleet.errors, Object.keys(fleet.errors ?? {}), timesMs.length) &&
    [counts.transferTimesUs, counts.txSizes, counts.rxSizes].every(isCounts) &&
    isListOf(events, ({ kind, timeMs, name }) => isText(kind) && isNumber(timeMs) && isText(name)) &&
    isListOf(blindSpans, ({ fromMs, toMs }) => isNumber(fromMs) && isNumber(toMs)) &&
    isListOf(agents, (one) => isText(one['name']) && hasColumns(one, Object.keys(AgentMeasure), agentTimesMs.length))
  );
}

function isListOf(value: unknown, isOne: (one: Record<string, unknown>) => boolean): boolean {
  return Array.isArray(value) && value.every((one) => isObject(one) && isOne(one));
}

function hasColumns(value: unknown, names: readonly string[], length: number): boolean {
  return isObject(value) && names.every((name) => isColumn(value[name], length));
}

function isColumn(value: unknown, length: number): boolean {
  return Array.isArray(value) && value.length === length && value.every((one) => one === null || isNumber(one));
}

function isCounts(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { timesMs, offsets, counts } = value;
  if (!isTimes(timesMs) || !isTimes(offsets) || !Array.isArray(counts)) return false;
  const isInLength = offsets.length === timesMs.length && counts.length === timesMs.length;
  return isInLength && counts.every((one) => one === null || isTimes(one));
}
