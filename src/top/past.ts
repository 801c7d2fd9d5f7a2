/** The history of serve as points, of one host or of several. Pure. */
import { isAnswerWith } from '../view/answers/answer.js';
import { type Column, type CountColumns, type HistoryAnswer, tallyAt } from '../view/answers/history-answer.js';
import { PRESENT_MS } from '../view/verdict/trouble-watch.js';
import { idOf } from './answer.js';
import type { Past, PastPoint, TimedCounts, PastValues } from './points.js';

export function isHistoryAnswer(json: unknown): json is HistoryAnswer {
  return isAnswerWith(json, 'agentTimesMs');
}

export function pastOf(answer: HistoryAnswer): Past {
  const { fleet, timesMs, agentTimesMs, agents, takenMs } = answer;
  const errors = sumOf(Object.values(fleet.errors), timesMs.length);
  return {
    takenMs,
    fleet: pointsOf(timesMs, { ...fleet, errors }, [fleet.full, fleet.dropped]),
    transferTimes: timedCounts(answer.transferTimesUs),
    agents: new Map(agents.map((agent) => [idOf(answer, agent.id), pointsOf(agentTimesMs, agent, [agent.full])])),
  };
}

type Columns = Partial<Record<keyof PastValues, Column>>;

/** Each point of the answer covers the time since the one before. `losses`: columns of what makes numbers too low. */
function pointsOf(timesMs: readonly number[], columns: Columns, losses: readonly Column[]): PastPoint[] {
  let lostMs = -Infinity;
  return timesMs.flatMap((toMs, i): PastPoint[] => {
    if (losses.some((column) => (column[i] ?? 0) > 0)) lostMs = toMs;
    const value = (field: keyof PastValues): number | undefined => columns[field]?.[i] ?? undefined;
    const [fromMs, tx] = [timesMs[i - 1], value('tx')];
    if (fromMs === undefined || tx === undefined) return [];
    const [rx, requests, errors] = [value('rx'), value('requests'), value('errors')];
    const [p50, p90, p99] = [value('p50'), value('p90'), value('p99')];
    // As in a verdict, where a trouble is present for a minute.
    const tooLow = toMs - lostMs < PRESENT_MS ? 1 : 0;
    return [{ fromMs, toMs, values: { tx, rx, requests, errors, p50, p90, p99, tooLow } }];
  });
}

/** Each column covers the time since the one before. */
function timedCounts(columns: CountColumns): TimedCounts[] {
  return columns.timesMs.flatMap((toMs, i): TimedCounts[] => {
    const [fromMs, counts] = [columns.timesMs[i - 1], tallyAt(columns, i)];
    return fromMs === undefined || counts === undefined ? [] : [{ fromMs, toMs, counts }];
  });
}

function sumOf(columns: readonly Column[], length: number): Column {
  return Array.from({ length }, (_, i) => columns.reduce((sum, column) => sum + (column[i] ?? 0), 0));
}
