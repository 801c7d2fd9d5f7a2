/** The built-in builders that read off the native tally: each a set of metrics, under a name to choose it by. */
import { check, isObject, listOf, optionsObject } from '../arguments.js';
import { agentMetrics } from './agent-metrics.js';
import { type Allowlist, EVERYTHING } from './allowlist.js';
import { checkCustomEvents, type CustomEvent, customMetrics, matcherOf } from './custom-events.js';
import { eventMetrics } from './event-metrics.js';
import { type EventRow, EVENTS } from './events.js';
import { keyMetrics } from './key-metrics.js';
import type { Metric } from './metric.js';
import { type Naming, NAMINGS } from './naming.js';
import { timeMetrics } from './time-metrics.js';
import { transferMetrics } from './transfer-metrics.js';

interface Context {
  readonly naming: Naming;
  /** The events of the table that are exported. */
  readonly rows: readonly EventRow[];
  readonly selects: Allowlist['selects'];
  readonly customEvents: readonly CustomEvent[];
}

const BUILDERS = {
  /** NIXL's own series. */
  legacy: ({ naming, rows }) => eventMetrics(naming, rows),
  /** Size, duration and throughput by direction. */
  transfers: ({ rows }) => (hasTransfers(rows) ? transferMetrics() : []),
  /** One series per category and event. */
  events: ({ selects, customEvents }) => {
    const declared = customEvents.filter(({ kind }) => kind === 'histogram').map(matcherOf);
    return keyMetrics(selects, (event) => declared.some((matches) => matches(event)));
  },
  /** Those of the configuration. */
  custom: ({ naming, selects, customEvents }) => customMetrics(naming, customEvents, selects),
  /** Life, memory in use, ring. */
  agents: ({ rows }) => agentMetrics(rows),
  time: () => timeMetrics(),
} satisfies Record<string, (context: Context) => Metric[]>;

export type TallyBuilderName = keyof typeof BUILDERS;
export const TALLY_BUILDERS = Object.keys(BUILDERS) as TallyBuilderName[];
export const DEFAULT_BUILDERS: readonly TallyBuilderName[] = ['legacy', 'transfers', 'events', 'custom', 'agents'];

export interface MetricsOptions {
  /** Default: all events. */
  readonly events?: Allowlist;
  readonly builders?: readonly TallyBuilderName[];
  readonly customEvents?: readonly CustomEvent[];
}

const OPTIONS = ['events', 'builders', 'customEvents'] as const;

/**
 * All metrics of agents in one naming, in the order of the builders. For one reader: some remember its last look.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function metricsOf(naming: Naming, options: MetricsOptions = {}): Metric[] {
  checkArguments(naming, options);
  const { events: { selects } = EVERYTHING, builders = DEFAULT_BUILDERS, customEvents = [] } = options;
  const rows = EVENTS.filter(({ event }) => selects(event));
  const context: Context = { naming, rows, selects, customEvents };
  return builders.flatMap((name) => BUILDERS[name](context));
}

function checkArguments(naming: Naming, options: MetricsOptions): void {
  check(NAMINGS.includes(naming), 'naming', naming, NAMINGS.join(', '));
  const { events = EVERYTHING, builders = [], customEvents = [] } = optionsObject('options', options, OPTIONS);
  check(isObject(events) && typeof events.selects === 'function', 'events', events, 'an object with selects()');
  listOf('builders', builders, (name, one) =>
    check(TALLY_BUILDERS.includes(one), name, one, TALLY_BUILDERS.join(', ')),
  );
  checkCustomEvents('customEvents', customEvents);
}

/** Transfers are put together from their times and bytes. */
function hasTransfers(rows: readonly EventRow[]): boolean {
  const has = (event: string): boolean => rows.some((row) => row.event === event);
  return has('agent_xfer_time') && (has('agent_tx_bytes') || has('agent_rx_bytes'));
}
