/** Options of the producer and the instrumentation, and of `nixl-otel` if they have a flag: one row each. */
import { hostname } from 'node:os';
import {
  DEAD_TTL_RANGE,
  DEFAULT_DEAD_TTL_MS,
  DEFAULT_DRAIN_INTERVAL_MS,
  DRAIN_INTERVAL_RANGE,
  LONGEST_MS,
  USER_ID_RANGE,
} from '../ground/source-limits.js';
import {
  ATTRIBUTE_SET_NAMES,
  DEFAULT_BOUNDS,
  DEFAULT_NIXL_LABELS,
  DEFAULT_NIXL_RELEASE,
  DEFAULT_SERIES_PRESET,
  NAMINGS,
  NIXL_LABELS,
  NIXL_RELEASES,
  SERIES_PRESETS,
} from '../mapping/index.js';
import { ATTRIBUTES } from './attribute-shapes.js';
import { DIRECTORIES } from './directories-row.js';
import { ENGINE_ROWS } from './engine-shapes.js';
import { BOUNDS, BUILDERS, CUSTOM_EVENTS, HISTOGRAM_BOUNDS } from './event-shapes.js';
import { HISTOGRAMS } from './histograms.js';
import { drainIntervalFor, exporterVariable } from './nixl-variables.js';
import type { OptionRows } from './row.js';
import {
  also,
  boolean,
  filePath,
  list,
  milliseconds,
  number,
  oneOrMore,
  pattern,
  type Shape,
  text,
  texts,
  value,
  variableName,
  wholeNumber,
  word,
} from './shape.js';
import { isModulePath } from './user-module.js';

const SECONDS = wholeNumber(0, Math.floor(LONGEST_MS / 1000));
export const DEFAULT_DURATION_BUDGET_MS = 10;

const glob = pattern('a path with * and ? in its last part only', /^([^*?[]*\/)?[^/]*\/*$/);

/** A text may hold several entries with commas between them, as NIXL's variable. */
const enabledMetrics: Shape<string | readonly string[]> = {
  ...also(
    { ...texts, allowed: 'text or an array of texts: globs over event names' },
    (given: string | readonly string[]) => {
      const entries = [given].flat().flatMap((one) => one.split(','));
      if (entries.every((entry) => entry.trim() === '')) return 'names no event; without it, every event is exported';
      return entries.some((entry) => entry.trim() === '!') ? 'has a ! without a name to exclude' : undefined;
    },
  ),
  parse: (text) => text,
};

const releases = word(NIXL_RELEASES);
/** YAML reads 1.0 as the number 1, so the message about a number asks for quotes. */
const nixlRelease: Shape<(typeof NIXL_RELEASES)[number]> = {
  ...releases,
  problems(given, path = []) {
    if (typeof given !== 'number') return releases.problems(given, path);
    return [{ path, text: `is the number ${given}; allowed: a string, so put it in quotes: ${releases.allowed}` }];
  },
};

export const OPTION_ROWS = {
  enabled: {
    shape: boolean,
    only: 'instrumentation',
    inFile: false,
    default: true,
    description: 'export from the start; has an effect at construction only',
  },
  configFile: {
    shape: filePath,
    inFile: false,
    flag: { name: 'config', takes: '<file>' },
    group: 'Configuration and log',
    variables: [{ name: 'NIXL_OTEL_CONFIG' }],
    description: 'configuration file, YAML or JSON, with any of these options',
    details: 'Relative paths in it are relative to its folder.',
  },
  directories: DIRECTORIES,
  globs: {
    shape: oneOrMore(glob, `${glob.allowed}, or a non-empty array of them`),
    isPath: () => true,
    passedTo: 'source',
    isList: true,
    description: 'paths of rings with `*` and `?` in their last part',
  },
  naming: {
    shape: word(NAMINGS),
    passedTo: 'profile',
    type: 'Naming',
    flag: { name: 'naming', takes: '<names>' },
    group: 'Series',
    default: 'nixl',
    description: "`nixl`: the names of NIXL's own exporter; `otel`: dotted names, UCUM units, seconds",
  },
  nixlRelease: {
    shape: nixlRelease,
    passedTo: 'profile',
    type: 'NixlRelease',
    flag: { name: 'nixlRelease', takes: '<release>' },
    group: 'Series',
    default: DEFAULT_NIXL_RELEASE,
    description: `NIXL release with the names and labels of the series \`agent_*\`: ${NIXL_RELEASES.join(', ')}; for naming \`nixl\``,
    details: 'Rings of all releases are read.',
  },
  nixlLabels: {
    shape: word(NIXL_LABELS),
    passedTo: 'profile',
    type: 'NixlLabels',
    flag: { name: 'nixlLabels', takes: '<exporter>' },
    group: 'Series',
    variables: [{ ...exporterVariable(({ labels }) => labels, '`prometheus_mp`: the same'), serveOnly: true }],
    default: DEFAULT_NIXL_LABELS,
    description:
      'labels of the series `agent_*`: `prometheus`, or `prometheus_mp`, which adds pid, agent_instance and local_rank of the agent; for naming `nixl`',
  },
  series: {
    shape: word(SERIES_PRESETS),
    type: 'SeriesPreset',
    flag: { name: 'series', takes: '<preset>' },
    group: 'Series',
    default: DEFAULT_SERIES_PRESET,
    description:
      "series of an agent: `nixl`: those of NIXL's exporter and nothing else; `standard`: 135; `full`: all that there are, 275, and 34 for each class of sizes that it moves",
    details: 'Not together with `builders`.',
  },
  hostname: {
    shape: text,
    flag: { name: 'hostname', takes: '<name>' },
    variables: [{ name: 'NIXL_OTEL_HOSTNAME', serveOnly: true }],
    group: 'Series',
    passedTo: 'profile',
    default: hostname,
    defaultText: 'os.hostname()',
    description: 'value of the label `hostname` in naming `nixl`',
  },
  drainIntervalMs: {
    shape: milliseconds(...DRAIN_INTERVAL_RANGE),
    passedTo: 'source',
    flag: { name: 'drainInterval', takes: '<ms>' },
    group: 'Rings',
    variables: [
      {
        name: 'NIXL_TELEMETRY_RUN_INTERVAL',
        parse: drainIntervalFor,
        note: `a fifth of it, at most ${DEFAULT_DRAIN_INTERVAL_MS}`,
      },
    ],
    default: DEFAULT_DRAIN_INTERVAL_MS,
    description: 'time between two drains of the rings, 1 to 10000',
    details: "If it is more than a fifth of the agents' flush interval (100 ms by default), events may be lost.",
  },
  deadTtlMs: {
    shape: milliseconds(...DEAD_TTL_RANGE),
    passedTo: 'source',
    flag: { name: 'deadTtl', takes: '<ms>' },
    group: 'Rings',
    variables: [
      {
        name: 'NIXL_TELEMETRY_MP_STALE_TTL',
        parse: (text) => SECONDS.parse!(text) * 1000,
        serveOnly: true,
        note: 'in seconds',
      },
    ],
    default: DEFAULT_DEAD_TTL_MS,
    description:
      'time for which the last values of a dead agent stay, at least until every metric reader has exported them',
    details: 'If several sources of a process read the agent, the longest time counts.',
  },
  idleTtlMs: {
    shape: milliseconds(1, LONGEST_MS),
    passedTo: 'source',
    flag: { name: 'idleTtl', takes: '<ms>' },
    group: 'Rings',
    defaultText: 'never',
    description: 'time without an event after which agents with an invisible process are dropped',
  },
  force: {
    shape: boolean,
    passedTo: 'source',
    default: false,
    description: 'read rings on network and FUSE file systems as well',
  },
  owners: {
    shape: list(wholeNumber(...USER_ID_RANGE, 'a user id'), { minItems: 1 }),
    passedTo: 'source',
    flag: { name: 'owner', takes: '<uid>', repeats: true },
    group: 'Rings',
    defaultText: 'any user',
    description: 'read only rings that belong to this user id',
  },
  enabledMetrics: {
    shape: enabledMetrics,
    variables: [{ name: 'NIXL_TELEMETRY_ENABLED_METRICS' }],
    defaultText: 'every event',
    description: 'events to export: globs over base event names, with commas between them or in an array',
    details: '`!` in front excludes.',
  },
  attributes: {
    shape: ATTRIBUTES,
    type: 'readonly (AttributeSpec | AttributeSet)[]',
    flag: { name: 'attributes', takes: '<set>' },
    group: 'Series',
    words: ATTRIBUTE_SET_NAMES,
    description:
      'attributes of every series of an agent; `kubernetes` for container, pod, namespace and node, with the names of OpenTelemetry',
    details: 'A file and the code can have custom ones as well.',
  },
  engines: {
    shape: ENGINE_ROWS,
    passedTo: 'profile',
    type: 'readonly ConfiguredEngine[]',
    defaultText: 'the engines that the package knows',
    description:
      'engines for `nixl.agent.info`: regular expressions for command lines and names of agents; they come before those that the package knows',
  },
  containerLogs: {
    shape: filePath,
    isPath: () => true,
    passedTo: 'profile',
    defaultText: '`/var/log/containers`',
    description:
      "directory of the kubelet's links to logs, which name pod, namespace and container of an agent for `nixl.agent.info`",
  },
  rankVariable: {
    shape: variableName,
    passedTo: 'profile',
    variables: [{ name: 'NIXL_TELEMETRY_RANK_ENV' }],
    default: 'LOCAL_RANK',
    description: "environment variable of an agent's process that holds its local rank",
  },
  customEvents: {
    shape: CUSTOM_EVENTS,
    passedTo: 'tally',
    type: 'readonly CustomEvent[]',
    description: "events that NIXL does not know: each gets a custom metric, or adds a status to NIXL's errors",
  },
  builders: {
    shape: BUILDERS,
    isPath: isModulePath,
    type: 'readonly (BuilderName | MetricBuilder)[]',
    defaultText: 'those of `series`',
    description: 'builders that make the metrics, in this order: names of built-in builders, and custom builders',
    details: 'In a file a custom builder is the path of its module.',
  },
  histogramBounds: {
    shape: HISTOGRAM_BOUNDS,
    passedTo: 'tally',
    usedBy: ['nixl', 'durations'],
    type: 'Readonly<Record<string, readonly number[]>>',
    description: "upper bounds of single events' histograms, by base event name and in the unit of the event",
  },
  durationBoundsUs: {
    shape: BOUNDS,
    passedTo: 'tally',
    usedBy: ['nixl', 'durations', 'events', 'categories', 'custom'],
    variables: [{ name: 'NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US' }],
    default: DEFAULT_BOUNDS.durationBoundsUs,
    defaultText: "NIXL's own, 10 us to 10 s",
    description: 'upper bounds of durations, microseconds in both namings',
  },
  sizeBounds: {
    shape: BOUNDS,
    passedTo: 'tally',
    usedBy: ['transfers'],
    defaultText: 'powers of 4 from 256 B to 4 GiB; with `series` `standard` powers of 16 from 4 KiB',
    description: 'upper bounds of transfer sizes, bytes',
  },
  throughputBounds: {
    shape: BOUNDS,
    passedTo: 'tally',
    usedBy: ['transfers'],
    defaultText:
      '1, 2.5 and 5 of each decade from 1 MB/s to 1 TB/s; with `series` `standard` six from 100 MB/s to 500 GB/s',
    description: 'upper bounds of throughput, bytes per second',
  },
  seriesLimit: {
    shape: wholeNumber(20, 1900),
    passedTo: 'instruments',
    only: 'instrumentation',
    default: 1900,
    description:
      'series of agents per instrument of the API, 20 to 1900; further agents are exported together as agent `other`',
    details: 'Only for instruments of the API; the SDK keeps at most 2000 series per instrument and never forgets one.',
  },
  durationBudgetMs: {
    shape: number('a number of milliseconds per second, from 1 to 1000', 1, 1000),
    passedTo: 'instruments',
    only: 'instrumentation',
    default: DEFAULT_DURATION_BUDGET_MS,
    description:
      'milliseconds of main-thread time per second for histograms of durations, 1 to 1000; durations beyond it are sampled',
    details: 'Only for instruments of the API.',
  },
  temporality: {
    shape: value(
      '"cumulative", "delta" or a function from instrument type to AggregationTemporality',
      undefined,
      (given) => given === 'cumulative' || given === 'delta' || typeof given === 'function',
    ),
    only: 'producer',
    type: 'Temporality',
    inFile: false,
    default: 'cumulative',
    description: 'temporality of counters and histograms; gauges and up-down counters are always cumulative',
  },
  histograms: {
    shape: HISTOGRAMS,
    only: 'producer',
    type: 'Histograms',
    inFile: false,
    default: 'explicit',
    description: 'histograms with `explicit` buckets, or `exponential` ones with at most 160 buckets',
    details: 'A reader that is a `PrometheusExporter` prints nothing for an exponential histogram.',
  },
} as const satisfies OptionRows;
