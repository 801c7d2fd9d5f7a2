/** Pictures of what moves: throughput, requests, memory. Pure. */
import type { Column } from '../../../view/answers/history-answer.js';
import { bytesRateText, bytesText, numberText, perSecondText, shortText } from '../../../ground/figures/figure.js';
import type { ChartLine, ChartPicture, ChartsInput } from './picture.js';
import { byteUnit, countScale, linearScale, type SteadyTop } from './scales.js';
import { WindowPoints, markNotes, type Window } from './window.js';
import { newest } from '../common/history.js';
import { added, highest } from '../common/series.js';

/** Least tops, so that an idle fleet has no axis of fractions. */
const LEAST_BYTES = 1000;
const LEAST_COUNT = 1;
export const TOP_AGENTS = 5;
const TOP_COLOURS = ['tx', 'rx', 'p90', 'mem', 'e5'];

export function throughput(input: ChartsInput, top: SteadyTop): ChartPicture {
  const { history, window, showsTop } = input;
  return showsTop ? topThroughput(input, top) : throughputOf(history.timesMs, history.fleet, window, top);
}

/** `now`: rates of the last seconds, where the points are longer. */
export function throughputOf(
  timesMs: readonly number[],
  { tx, rx }: { readonly tx: Column; readonly rx: Column },
  window: Window,
  top: SteadyTop,
  now?: { readonly tx?: number | undefined; readonly rx?: number | undefined },
): ChartPicture {
  const points = new WindowPoints(timesMs, window);
  const line = (name: 'tx' | 'rx', values: Column): ChartLine => {
    const about = { label: name, colour: name, end: name, isFilled: true };
    return { ...about, values, text: bytesRateText, now: now === undefined ? newest(values) : now[name] };
  };
  return {
    ...points.picture,
    scale: byteScale(Math.max(highest(tx), highest(rx)), top),
    lines: [line('tx', points.of(tx)), line('rx', points.of(rx))],
    notes: markNotes(window),
  };
}

/** Shows the agents that move the most now, one line for each. */
function topThroughput({ history, window, nameOf }: ChartsInput, top: SteadyTop): ChartPicture {
  const { agentTimesMs, agents } = history;
  const points = new WindowPoints(agentTimesMs, window);
  const ranked = agents
    .map((agent) => ({ id: agent.id, sums: added(agent.tx, agent.rx) }))
    .sort((a, b) => (b.sums.at(-1) ?? 0) - (a.sums.at(-1) ?? 0) || a.id - b.id)
    .slice(0, TOP_AGENTS);
  const names = withoutShared(ranked.map(({ id }) => nameOf(id)));
  const lines = ranked.map(({ sums }, i): ChartLine => ({
    label: names[i]!,
    colour: TOP_COLOURS[i]!,
    values: points.of(sums),
    text: bytesRateText,
    isName: true,
  }));
  const most = Math.max(0, ...ranked.map(({ sums }) => highest(sums)));
  return { ...points.picture, scale: byteScale(most, top), lines, notes: markNotes(window) };
}

/** Returns the parts in which the names differ: a legend has no room for more. */
function withoutShared(names: readonly string[]): string[] {
  const [first = ''] = names;
  let length = 0;
  while (length < first.length && names.every((name) => name[length] === first[length])) length++;
  const shared = first.slice(0, length).replace(/[^-_./]*$/, '');
  return names.map((name) => (shared === '' ? name : `…${name.slice(shared.length)}`));
}

function byteScale(most: number, top: SteadyTop) {
  const max = top.next(most, LEAST_BYTES);
  const { size, name } = byteUnit(max);
  return linearScale(max, { size, name: `${name}/s` });
}

export function requests({ history: { timesMs, fleet }, window }: ChartsInput, top: SteadyTop): ChartPicture {
  const points = new WindowPoints(timesMs, window);
  const values = points.of(fleet.requests);
  const now = newest(values);
  return {
    ...points.picture,
    unit: 'per second',
    scale: countScale(top.next(highest(fleet.requests), LEAST_COUNT)),
    lines: [
      {
        label: 'finished',
        colour: 'tx',
        values,
        text: perSecondText,
        now,
        isFilled: true,
        ...(now === undefined ? {} : { end: shortText(now) }),
      },
    ],
  };
}

export function memory({ history: { timesMs, fleet }, window }: ChartsInput, top: SteadyTop): ChartPicture {
  const points = new WindowPoints(timesMs, window);
  const values = points.of(fleet.memory);
  const max = top.next(highest(fleet.memory), LEAST_BYTES);
  const last = values.findLast((value) => value !== null) ?? null;
  const unit = byteUnit(max);
  return {
    ...points.picture,
    scale: linearScale(max, unit),
    lines: [
      {
        label: 'in use',
        colour: 'mem',
        values,
        text: bytesText,
        isFilled: true,
        ...(last === null ? {} : { end: numberText(last / unit.size) }),
      },
    ],
  };
}
