/** History of each agent. The number of points in all is limited: with many agents each has fewer. Pure. */
import type { Growth } from './flush-spread.js';
import { CounterGrowth } from './growth.js';
import { GAP_MS } from './fleet-history.js';
import type { AgentColumns, Column } from '../../view/answers/history-answer.js';
import { KEPT_MS, rounded } from './points.js';
import type { Percentiles } from '../../view/figures/percentiles.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import { Counter } from './counters.js';

/** Shortest time between two points. */
const STEP_MS = 5000;
/** Tolerance: the timer of the samples may fire a little early or late. */
const SLACK_MS = 100;
const MOST_POINTS = KEPT_MS / STEP_MS;
/** So many agents have all points; twice as many have half of them, and so on. */
export const AGENTS_WITH_ALL_POINTS = 128;
const FEWEST_POINTS = 4;

/** Values of a point. Rates are per second, averages of the point; the others are the highest values within it. */
export const AgentMeasure = { tx: 0, rx: 1, requests: 2, errors: 3, full: 4, fill: 5, p50: 6, p90: 7, p99: 8 } as const;
const WIDTH = 9;
/** From here on a longer point has the highest value. */
const FIRST_HIGHEST = AgentMeasure.fill;

/** Number of points that each of so many agents has. */
export function pointsFor(agents: number): number {
  let points = MOST_POINTS;
  for (let most = AGENTS_WITH_ALL_POINTS; agents > most && points / 2 >= FEWEST_POINTS; most *= 2) points /= 2;
  return Math.floor(points);
}

/** Points of agents, at the same times. */
export interface AgentPoints {
  readonly timesMs: readonly number[];
  /** Values by id of the agent, see columnIn(). */
  readonly rows: ReadonlyMap<number, Float32Array>;
}

/** Returns one measure of an agent's points. */
export function columnIn(row: Float32Array, measure: number): Column {
  const column: (number | null)[] = [];
  for (let at = measure; at < row.length; at += WIDTH) column.push(Number.isNaN(row[at]) ? null : rounded(row[at]!));
  return column;
}

type RecentTimesOf = (agent: ServedAgent) => Percentiles | undefined;

export class AgentHistory {
  readonly #growth = new CounterGrowth();
  /** Ends of the points. */
  #times: number[] = [];
  /** Values of each agent at these times, `#capacity` points of space. */
  #rows = new Map<number, Float32Array>();
  #capacity = MOST_POINTS;
  #lastMs: number | undefined;
  /** Highest values since the last point, in the order of the measures from FIRST_HIGHEST on. */
  #highest = new Map<number, readonly number[]>();
  #highestMs = -Infinity;

  /** Takes the points of an earlier process, before there are any of this one. `columns`: by id of the agent now. */
  restore(timesMs: readonly number[], columns: ReadonlyMap<number, Omit<AgentColumns, 'id'>>, takenMs: number): void {
    const old = timesMs.filter((timeMs) => takenMs - timeMs >= KEPT_MS).length;
    const first = Math.max(old, timesMs.length - (this.#capacity - 1));
    // The last one ends the gap up to the first sample here.
    this.#times = [...timesMs.slice(first), takenMs];
    for (const [id, kept] of columns) {
      const row = new Float32Array(this.#capacity * WIDTH).fill(NaN);
      for (const [name, measure] of Object.entries(AgentMeasure)) {
        const values = kept[name as 'tx'].slice(first);
        values.forEach((value, i) => (row[i * WIDTH + measure] = value ?? NaN));
      }
      this.#rows.set(id, row);
    }
  }

  /** Takes a sample; `recent`: percentiles of the last seconds, microseconds. */
  add(takenMs: number, agents: readonly ServedAgent[], recent: RecentTimesOf): void {
    if (takenMs - this.#highestMs >= STEP_MS - SLACK_MS) {
      this.#keepHighest(agents, recent);
      this.#highestMs = takenMs;
    }
    const sinceMs = takenMs - (this.#lastMs ?? -Infinity);
    if (sinceMs < KEPT_MS / this.#capacity - SLACK_MS) return;
    this.#resize(pointsFor(agents.length));
    const growth = this.#growth.take(takenMs, agents);
    const isFirst = this.#lastMs === undefined;
    this.#lastMs = takenMs;
    this.#forget(agents);
    if (!isFirst) this.#addPoint(takenMs, sinceMs, agents, growth);
    this.#highest.clear();
  }

  /** Returns copies of the points after `fromMs`, of one agent or of all: later samples do not change them. */
  after(fromMs: number, id?: number): AgentPoints {
    const first = this.#firstAfter(fromMs);
    const rows = [...this.#rows].filter(([agent]) => id === undefined || agent === id);
    const copied = rows.map(([agent, row]) => [agent, row.slice(first * WIDTH, this.#times.length * WIDTH)] as const);
    return { timesMs: this.#times.slice(first), rows: new Map(copied) };
  }

  #firstAfter(fromMs: number): number {
    const first = this.#times.findIndex((timeMs) => timeMs > fromMs);
    return first === -1 ? this.#times.length : first;
  }

  #keepHighest(agents: readonly ServedAgent[], recent: RecentTimesOf): void {
    for (const agent of agents) {
      const { id, fill } = agent;
      const { p50 = NaN, p90 = NaN, p99 = NaN } = recent(agent) ?? {};
      const now = [fill, p50, p90, p99];
      const before = this.#highest.get(id);
      this.#highest.set(id, before === undefined ? now : now.map((value, i) => highest(before[i]!, value)));
    }
  }

  #addPoint(takenMs: number, sinceMs: number, agents: readonly ServedAgent[], growth: Growth): void {
    const isFull = this.#times.length === this.#capacity;
    if (isFull) this.#times.shift();
    this.#times.push(takenMs);
    const at = (this.#times.length - 1) * WIDTH;
    if (isFull) for (const row of this.#rows.values()) row.copyWithin(0, WIDTH);
    for (const row of this.#rows.values()) row.fill(NaN, at, at + WIDTH);
    if (sinceMs > GAP_MS + KEPT_MS / this.#capacity) return;
    for (const [i, { id, fill }] of agents.entries()) {
      const grown = growth[i];
      let row = this.#rows.get(id);
      if (row === undefined) this.#rows.set(id, (row = new Float32Array(this.#capacity * WIDTH).fill(NaN)));
      if (grown === undefined) continue;
      const perSecond = (count: number): number => count / (sinceMs / 1000);
      row[at + AgentMeasure.tx] = perSecond(grown[Counter.TX]!);
      row[at + AgentMeasure.rx] = perSecond(grown[Counter.RX]!);
      row[at + AgentMeasure.requests] = perSecond(grown[Counter.REQUESTS]!);
      row[at + AgentMeasure.errors] = perSecond(grown.slice(Counter.ERRORS).reduce((sum, count) => sum + count, 0));
      row[at + AgentMeasure.full] = perSecond(grown[Counter.FULL]!);
      row.set(this.#highest.get(id) ?? [], at + FIRST_HIGHEST);
      row[at + AgentMeasure.fill] = highest(row[at + AgentMeasure.fill]!, fill);
    }
  }

  #forget(agents: readonly ServedAgent[]): void {
    const ids = new Set(agents.map(({ id }) => id));
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.#rows.delete(id);
  }

  /** Merges pairs of points while there are too many. More room later takes further points. */
  #resize(capacity: number): void {
    if (capacity === this.#capacity) return;
    const merges = Math.max(0, Math.round(Math.log2(this.#capacity / capacity)));
    for (let i = 0; i < merges; i++) {
      const before = this.#times;
      this.#times = before.filter((_, point) => point % 2 === 1 || point === before.length - 1);
      for (const [id, row] of this.#rows) this.#rows.set(id, merged(row, before));
    }
    for (const [id, row] of this.#rows) {
      const resized = new Float32Array(capacity * WIDTH).fill(NaN);
      resized.set(row.subarray(0, this.#times.length * WIDTH));
      this.#rows.set(id, resized);
    }
    this.#capacity = capacity;
  }
}

/** Returns points of twice the time; the last one of an odd number stays. */
function merged(row: Float32Array, times: readonly number[]): Float32Array {
  const result = new Float32Array(row.length).fill(NaN);
  for (let point = 0; point < times.length; point++) {
    const isPair = point % 2 === 1;
    if (!isPair && point < times.length - 1) continue;
    for (let measure = 0; measure < WIDTH; measure++) {
      const now = row[point * WIDTH + measure]!;
      const before = isPair ? row[(point - 1) * WIDTH + measure]! : NaN;
      const at = Math.floor(point / 2) * WIDTH + measure;
      result[at] = measure >= FIRST_HIGHEST ? highest(before, now) : average(before, now);
    }
  }
  return result;
}

function highest(a: number, b: number): number {
  return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b);
}

function average(a: number, b: number): number {
  return Number.isNaN(a) ? b : Number.isNaN(b) ? a : (a + b) / 2;
}
