/** Readings of one metric over all agents, at this collect and, for deltas, at the previous one. */
import type { HrTime } from '@opentelemetry/api';
import { type AgentSnapshot, type Attributes, eventLike, type EventPoint, type Point } from '../../mapping/index.js';
import type { AgentSeries } from '../agents/agent-series.js';

/** One agent at this collect. */
export interface AgentView {
  readonly agent: AgentSnapshot;
  /** The same agent at the previous collect; undefined when it is new, and for cumulative data. */
  readonly previous: AgentSnapshot | undefined;
  readonly series: AgentSeries;
  readonly startTime: HrTime;
  /** Start of a delta: the previous collect, or the agent's own start. */
  readonly deltaStartTime: HrTime;
}

export interface Moment {
  readonly takenMs: number;
  readonly endTime: HrTime;
}

/**
 * Calls `use` for each point of one metric over all agents, with its reading and, for deltas, the previous one. Deltas of 0
 * are included: a series that disappears would look like an agent that disappears.
 */
export function eachReading<Value>(
  metric: { readonly points: readonly Point<Value>[]; readonly perEvent?: EventPoint<Value> },
  index: number,
  views: readonly AgentView[],
  { takenMs }: Moment,
  delta: boolean,
  use: (view: AgentView, attributes: Attributes, current: Value, previous: Value | undefined) => void,
): void {
  const { points, perEvent } = metric;
  for (const view of views) {
    const { agent, series } = view;
    const previous = delta ? view.previous : undefined;
    for (let p = 0; p < points.length; p++) {
      const point = points[p]!;
      const current = point.read(agent, takenMs);
      if (current === undefined) continue;
      use(view, series.points[index]![p]!, current, previous && point.read(previous, takenMs));
    }
    if (perEvent === undefined) continue;
    for (let e = 0; e < agent.events.length; e++) {
      const event = agent.events[e]!;
      if (!perEvent.applies(event)) continue;
      const before = previous && eventLike(previous, e, event);
      const had = before !== undefined && perEvent.applies(before);
      use(view, series.event(e, event).attributes, perEvent.read(event), had ? perEvent.read(before) : undefined);
    }
  }
}
