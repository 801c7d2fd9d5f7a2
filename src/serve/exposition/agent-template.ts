/** Templates of agents: points that name a field have their numbers in the agent's words, all others are read for each page. */
import type { Attributes, HrTime } from '@opentelemetry/api';
import { TALLY_SCALE } from '../../ground/exponential.js';
import { madeOnce } from '../../ground/maps.js';
import { exponentialShift } from '../../instrumentation/producer/exponential.js';
import { type AgentView, hrTimeOf, scaledBounds } from '../../instrumentation/producer/metric-data.js';
import { type HistogramMetric, type Metric, type NumberMetric, toDouble } from '../../mapping/index.js';
import type { Handle } from '../../shm-bridge/addon.js';
import type { AgentWords } from '../../shm-bridge/agent-words.js';
import type { HistogramPlaces, NumberPlaces } from '../../shm-bridge/tally-words.js';
import type { Form, HistogramSources } from './forms.js';
import type { Family } from './spelling.js';
import { type Source, TemplateWriter, What } from './template.js';

export interface AgentTemplate {
  readonly handle: Handle;
  /** Returns the numbers that are given for each page; undefined if the agent has no such point. */
  readonly readings: readonly ((agent: AgentWords, takenMs: number) => number | undefined)[];
  /** It is for the agent as long as it has both. */
  readonly layout: bigint;
  readonly startTimeMs: number;
}

/** `families`: of the metrics; undefined for one without a name. */
export function agentTemplate<Labels>(
  form: Form<Labels>,
  metrics: readonly Metric[],
  families: readonly (Family | undefined)[],
  { series, startTime }: AgentView,
  agent: AgentWords,
): AgentTemplate {
  const out = new TemplateWriter();
  const readings: GivenReading[] = [];
  const made = new Map<Attributes, Labels>();
  const labelsOf = (attributes: Attributes): Labels => madeOnce(made, attributes, () => form.labels(attributes));

  const writeRead = (family: Family, attributes: Attributes, read: GivenReading): void => {
    const place = readings.push(read) - 1;
    out.optional(() => form.number(out, family, labelsOf(attributes), [[What.GIVEN, place, 1]], startTime));
  };
  const writeNumbers = ({ points, perEvent, divisor }: NumberMetric, m: number, family: Family): void => {
    const write = (attributes: Attributes, places: NumberPlaces | undefined): void => {
      if (places === undefined) return;
      form.number(out, family, labelsOf(attributes), numberSources(places, divisor), startTime);
    };
    for (const [p, point] of points.entries()) {
      const { field } = point;
      const attributes = series.points[m]![p]!;
      if (field === undefined) writeRead(family, attributes, pointReading(point, divisor));
      else write(attributes, agent.numberPlaces(field));
    }
    if (perEvent === undefined) return;
    for (const [e, event] of agent.events.entries()) {
      if (!perEvent.applies(event)) continue;
      const { attributes } = series.event(e, event);
      const { field } = perEvent;
      if (field === undefined) writeRead(family, attributes, eventReading(perEvent, e, divisor));
      else write(attributes, event.placesOf(field as 'count'));
    }
  };
  const writeHistograms = ({ points, perEvent, divisor }: HistogramMetric, m: number, family: Family): void => {
    const write = (attributes: Attributes, places: HistogramPlaces | undefined): void => {
      if (places === undefined) return;
      const { startTimeMs } = places;
      const begun: HrTime = startTimeMs === undefined ? startTime : hrTimeOf(startTimeMs);
      form.histogram(out, family, labelsOf(attributes), histogramSources(places, divisor), begun);
    };
    for (const [p, { field }] of points.entries()) {
      write(series.points[m]![p]!, field && agent.histogramPlaces(field));
    }
    if (perEvent === undefined) return;
    for (const [e, event] of agent.events.entries()) {
      if (perEvent.applies(event)) write(series.event(e, event).attributes, event.histogram?.places);
    }
  };

  for (const [m, metric] of metrics.entries()) {
    const family = families[m];
    if (family !== undefined && metric.kind === 'histogram') writeHistograms(metric, m, family);
    else if (family !== undefined) writeNumbers(metric as NumberMetric, m, family);
    out.endFamily();
  }
  const { layout, startTimeMs } = agent;
  return { handle: out.make(agent.length, readings.length), readings, layout, startTimeMs };
}

type GivenReading = AgentTemplate['readings'][number];

// Not in agentTemplate(): a closure keeps all variables of the function that it was made in.
function pointReading(point: NumberMetric['points'][number], divisor: number): GivenReading {
  return (now, takenMs) => inUnit(point.read(now, takenMs), divisor);
}

function eventReading(perEvent: NonNullable<NumberMetric['perEvent']>, e: number, divisor: number): GivenReading {
  return (now) => inUnit(perEvent.read(now.events[e]!), divisor);
}

function inUnit(reading: bigint | number | undefined, divisor: number): number | undefined {
  return reading === undefined ? undefined : toDouble(reading, divisor);
}

const KINDS = { count: What.COUNT, wide: What.WIDE, double: What.DOUBLE } as const;

/** Returns running sums for several places: those of counts, whose divisor is 1. */
function numberSources({ kind, places }: NumberPlaces, divisor: number): Source[] {
  if (places.length === 1) return [[KINDS[kind], places[0]!, divisor]];
  return places.map((place, i) => [i === 0 ? What.FIRST : What.RUNNING, place, 1]);
}

function histogramSources({ bounds, counts, sum }: HistogramPlaces, divisor: number): HistogramSources {
  const all = bounds.length + 1;
  // Beyond an infinite bound there are no values.
  const lines = bounds.at(-1) === Infinity ? bounds.length : all;
  return {
    bounds: scaledBounds(bounds, divisor),
    buckets: Array.from({ length: lines }, (_, i) => [i === 0 ? What.FIRST : What.RUNNING, counts + i, 1]),
    count: [What.TOTAL, counts, all],
    sum: numberSources(sum, divisor)[0],
    exponential: [What.EXPONENTIAL, counts + all, exponentialShift(divisor, TALLY_SCALE)],
  };
}
