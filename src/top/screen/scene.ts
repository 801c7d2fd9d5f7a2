/** All that a frame is made of, gathered from one view to the next. */
import type { Verdict } from '../../view/verdict/types.js';
import { sumOfTimes, timeFigures, type TimeFigures } from '../../view/figures/time-figures.js';
import type { AgentModel } from '../../view/model/agent-model.js';
import { measuresOf, type Past } from '../points.js';
import { overall, type TopRow, type FleetView } from '../tracker.js';
import { selected } from '../selection.js';
import type { TopIncidents } from '../incidents.js';
import type { TopSizes } from '../sizes.js';
import type { Diagnosis } from './doctor-page.js';
import { History } from './history.js';
import { Judge } from './judge.js';
import type { UiState } from './keys.js';
import { LastMinute } from './last-minute.js';
import type { SteadyOrder } from './steady-order.js';
import { sumOfFleets } from './sum-of-fleets.js';
import { weightsIn } from './weights.js';

export interface Surroundings {
  readonly columns: number;
  readonly rows: number;
  /** Origin of the numbers: directories, or addresses. */
  readonly origin: string;
  /** False if graphs, bars and shapes are made of ASCII. */
  readonly unicode: boolean;
}

/** The newest numbers, and those of the last minutes. */
export interface Picture {
  readonly view: FleetView;
  readonly verdict: Verdict;
  /** Figures of all agents' transfers between the last two samples. */
  readonly times: TimeFigures | undefined;
  readonly fleet: History;
  /** By id. */
  readonly agents: ReadonlyMap<string, History>;
  readonly lastMinute: LastMinute;
}

export interface Scene extends Picture {
  /** Selected agents, in their order. */
  readonly rows: readonly TopRow[];
  /** True while the order holds still, because the cursor moves. */
  readonly frozen: boolean;
  /** Details of the agent under the cursor; undefined if they are not known yet. */
  readonly details: Partial<AgentModel> | undefined;
  /** Time by size of all agents, or of the open one; undefined until it is known. */
  readonly sizes: TopSizes | undefined;
  /** What was found in the last day; undefined until it is known. */
  readonly incidents: TopIncidents | undefined;
  /** Last run of doctor. */
  readonly diagnosis: Diagnosis | undefined;
}

export class Gathering {
  readonly #judge = new Judge();
  readonly #fleet = new History();
  readonly #lastMinute = new LastMinute();
  #agents = new Map<string, History>();
  #picture: Picture | undefined;
  /** Hosts without an answer at the last view; undefined before the first one. */
  #silent: ReadonlySet<string | undefined> | undefined;

  get picture(): Picture | undefined {
    return this.#picture;
  }

  /** Returns whether an origin of the view answers for the first time, or again. */
  add(view: FleetView): boolean {
    const rows = view.rows.filter(({ agent }) => !agent.unused);
    const verdict = this.#judge.judge(view);
    const all = sumOfTimes(rows.flatMap(({ transferTimes }) => transferTimes ?? []));
    const times = all && timeFigures(all);
    const before = this.#agents;
    this.#agents = new Map(rows.map(({ agent: { id } }) => [id, before.get(id) ?? new History()]));
    const fromMs = this.#picture?.view.takenMs ?? view.takenMs;
    if (view.takenMs < fromMs) for (const history of [this.#fleet, ...this.#agents.values()]) history.clear();
    // Old numbers are no numbers of this time: a gap.
    const isStale = view.seconds === undefined || view.parts.every(({ facts }) => facts.stale !== undefined);
    if (!isStale) {
      const tooLow = verdict.counts.incomplete > 0 ? 1 : 0;
      this.#fleet.add(fromMs, view.takenMs, { ...measuresOf(overall(rows)), ...percentiles(times), tooLow });
      for (const row of rows) {
        const { id } = row.agent;
        const isLow = verdict.states.get(id)?.state === 'incomplete';
        const values = { ...measuresOf(row), ...percentiles(row.transferTimeUs), tooLow: isLow ? 1 : 0 };
        this.#agents.get(id)!.add(fromMs, view.takenMs, values);
      }
    }
    if (!isStale || this.#picture === undefined)
      this.#lastMinute.add(
        view.takenMs,
        rows.map(({ agent }) => agent),
      );
    const [fleet, agents, lastMinute] = [this.#fleet, this.#agents, this.#lastMinute];
    this.#picture = { view, verdict, times, fleet, agents, lastMinute };
    const silent = new Set(view.parts.filter(({ facts }) => facts.stale !== undefined).map(({ host }) => host));
    const isBack = view.parts.some(({ host }) => !silent.has(host) && this.#silent?.has(host) !== false);
    this.#silent = silent;
    return isBack;
  }

  /** Fills the gaps of the graphs with what was recorded elsewhere. */
  fill(pasts: readonly Past[]): void {
    const endMs = this.#picture?.view.takenMs;
    if (endMs === undefined || pasts.length === 0) return;
    this.#fleet.fill(pasts.length === 1 ? pasts[0]!.fleet : sumOfFleets(pasts, endMs), endMs);
    for (const [id, points] of pasts.flatMap(({ agents }) => [...agents])) this.#agents.get(id)?.fill(points, endMs);
  }
}

/** Returns a picture that later views do not change. */
export function still(picture: Picture): Picture {
  const agents = new Map([...picture.agents].map(([id, history]) => [id, history.copy()]));
  return { ...picture, fleet: picture.fleet.copy(), agents, lastMinute: picture.lastMinute.copy() };
}

/** Selects and orders the agents of a picture. `order`: keeps their places from one scene to the next. */
export function sceneOf(
  picture: Picture,
  state: UiState,
  order: SteadyOrder,
  frozen: boolean,
  extras: Partial<Pick<Scene, 'details' | 'sizes' | 'incidents' | 'diagnosis'>> = {},
): Scene {
  const { view, verdict } = picture;
  const weight = weightsIn(verdict);
  const wanted = selected(view.rows, state).filter((row) => !state.problemsOnly || weight(row) < 0);
  const rows = order.sorted(wanted, state, weight, view.takenMs, frozen);
  const { details, sizes, incidents, diagnosis } = extras;
  return { ...picture, rows, frozen, details, sizes, incidents, diagnosis };
}

function percentiles(times: TimeFigures | undefined) {
  return { p50: times?.p50, p90: times?.p90, p99: times?.p99 };
}
