/** Points that hand on a field of the tally: they name it, so that a page can take it from where it lies. */
import type { Exact } from '../ground/exact.js';
import type { AgentSnapshot, HistogramField, NumberField } from '../ground/tally.js';
import { eventOfType } from './events.js';
import type { Distribution, Point } from './metric.js';
import { type Labels, NO_LABELS } from './naming.js';

export function numberPoint(field: NumberField, labels: Labels = NO_LABELS): Point<Exact> {
  return { labels, field, read: reader(field) as Point<Exact>['read'] };
}

export function histogramPoint(field: HistogramField, labels: Labels): Point<Distribution> {
  return { labels, field, read: reader(field) as Point<Distribution>['read'] };
}

function reader(field: NumberField | HistogramField): (agent: AgentSnapshot) => Exact | Distribution | undefined {
  if ('agent' in field) return (agent) => agent[field.agent];
  if ('measure' in field) return ({ transfers }) => transfers[field.direction][field.measure];
  const { types, value } = field;
  const [type] = types;
  if (types.length === 1) return (agent) => eventOfType(agent, type!)?.[value];
  return (agent) => types.reduce((count, one) => count + (eventOfType(agent, one)?.count ?? 0), 0);
}
