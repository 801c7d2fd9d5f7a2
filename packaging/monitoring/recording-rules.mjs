/** Recording rules: one set of names and labels for all spellings. */
import { by, TARGET } from './queries.mjs';

const AGENT = [...TARGET, 'agent'];
/** Labels of all agents of a service together. */
const SERVICE = ['cluster', 'namespace', 'job'];
const DURATION = 'nixl.transfer.duration';
const PERCENTILES = { p50: 0.5, p90: 0.9, p99: 0.99 };

/** Returns the groups. `queries`: without matchers. */
export function recordingGroups(queries) {
  return [
    { name: 'nixl-otel-increases', comment: ABOUT_INCREASES, rules: increases(queries) },
    { name: 'nixl-otel-rates', rules: rates(queries) },
    { name: 'nixl-otel-fleet', comment: ABOUT_FLEET, rules: fleet(queries) },
  ];
}

const ABOUT_INCREASES = `Losses, errors and restarts: a single one matters. increase() misses what a counter holds in its first sample.
Therefore the value itself counts in the first five minutes of a series:
  x unless on (its target, agent, status, ...) present_over_time(x[5m] offset 5m)
Other labels may change while a counter goes on, such as the hostname of a pod, or the container of an agent.
A failed scrape does not make a series new, because present_over_time() ignores it. Neither does a start or a pause of
Prometheus: it had no \`up\` before. With OTLP alone, the ticks of the collector stand for \`up\`. A ruler of several clusters
compares each with its own past: series of a new cluster have no first samples for six minutes. One case remains: for more than
five minutes a target was out of reach or did not run, or it has a new name or port. Its counters continue, and count their
whole past again, once.
The rates in the next group have no first samples. In a graph, such a past would dwarf all other values, while a
first sample lacks in a rate only what an agent did before its first scrape.`;

const ABOUT_FLEET = `Sums over hosts and services, so that a dashboard of a fleet reads few series.`;
const ABOUT_HISTOGRAMS = `Histograms of transfer time: native ones if the service has any, otherwise classic ones, with le. PromQL cannot change
bounds, so each unit has a record of its own: microseconds are those of naming nixl, seconds those of naming otel.`;

function increases(queries) {
  const increase = (record, name, more = []) => ({
    record: `nixl:${record}:increase5m`,
    expr: by([...AGENT, ...more], queries.increaseWithFirst(name)),
  });
  const events = (record, name) => ({
    record: `nixl:${record}:increase5m`,
    expr: by([...TARGET, 'outcome'], queries.increaseWithFirst(name)),
  });
  return [
    increase('ring_full', 'nixl.ring.full'),
    increase('ring_foreign_moves', 'nixl.ring.foreign_moves'),
    increase('ring_resyncs', 'nixl.ring.resyncs'),
    increase('restarts', 'nixl.agent.restarts'),
    {
      comment: `Differences are recorded: an alert may be evaluated while only one of their operands is new. Each restart causes one
resync; this counts the others.`,
      record: 'nixl:ring_damages:increase5m',
      expr: 'nixl:ring_resyncs:increase5m - nixl:restarts:increase5m',
    },
    {
      comment: `The flag of a ring stays, so its change counts. One of its causes has a count of its own, foreign moves: this is
the others, restarts that could not be followed and several processes that wrote the ring.`,
      record: 'nixl:ring_unfollowed:increase5m',
      expr: `${by(AGENT, queries.increaseWithFirst('nixl.ring.suspect'))} unless nixl:ring_foreign_moves:increase5m > 0`,
    },
    {
      comment:
        'Custom builders, and histograms of NixlInstrumentation. serve without custom builders has neither series.',
      ...events('builders_events', 'nixl.builders.events'),
    },
    events('duration_events', 'nixl.duration.events'),
    increase('events_dropped', 'nixl.telemetry.events.dropped'),
    increase('errors', 'nixl.errors', ['status']),
    increase('requests', 'nixl.transfer.requests', ['direction']),
    {
      comment: `Share of failed operations among all finished ones. An idle agent has no value. If a past counts again, it does so
on both sides: the value is the share in that past, and never above 1.`,
      record: 'nixl:error_ratio:rate5m',
      expr: errorRatio(AGENT),
    },
  ];
}

function errorRatio(labels) {
  const errors = `sum by (${labels.join(', ')}) (nixl:errors:increase5m)`;
  return `${errors} / (${errors} + sum by (${labels.join(', ')}) (nixl:requests:increase5m) > 0)`;
}

function rates(queries) {
  const rate = (record, name, more) => ({
    record: `nixl:${record}:rate5m`,
    expr: by([...AGENT, more], queries.rate(name, '5m')),
  });
  return [
    rate('transfer_bytes', 'nixl.transfer.io', 'direction'),
    rate('requests', 'nixl.transfer.requests', 'direction'),
    rate('errors', 'nixl.errors', 'status'),
    {
      comment: `Native histograms if Prometheus has them, otherwise classic ones. Classic buckets begin at 10 us: below that, a
percentile is interpolated from 0.`,
      record: 'nixl:transfer_duration_seconds:p50_rate5m',
      expr: queries.quantile(PERCENTILES.p50, DURATION, AGENT, '5m'),
    },
    {
      record: 'nixl:transfer_duration_seconds:p99_rate5m',
      expr: queries.quantile(PERCENTILES.p99, DURATION, AGENT, '5m'),
    },
    {
      record: 'nixl:transfer_slowdown',
      expr: by([...AGENT, 'direction'], queries.values('nixl.transfer.slowdown'), 'max'),
    },
    { record: 'nixl:post_slowdown', expr: by([...AGENT, 'direction'], queries.values('nixl.post.slowdown'), 'max') },
    { record: 'nixl:memory_bytes', expr: by(AGENT, queries.values('nixl.memory.usage')) },
  ];
}

function fleet(queries) {
  const summed = (level, labels, rule) => ({
    record: `nixl_${level}:${rule}`,
    expr: `sum by (${labels.join(', ')}) (nixl:${rule})`,
  });
  const ofHost = (rule) => summed('host', TARGET, rule);
  const ofService = (rule, ...more) => summed('service', [...SERVICE, ...more], rule);
  return [
    ofHost('transfer_bytes:rate5m'),
    ofHost('ring_full:increase5m'),
    ofHost('events_dropped:increase5m'),
    ofHost('ring_foreign_moves:increase5m'),
    { record: 'nixl_host:error_ratio:rate5m', expr: errorRatio(TARGET) },
    {
      comment: '0 where nixl-otel runs without agents.',
      record: 'nixl_host:agents',
      expr: `${by(TARGET, queries.values('nixl.ring.suspect'), 'count')}
or 0 * ${by(TARGET, queries.values('nixl.collector.ticks'), 'count')}`,
    },
    {
      comment: 'Findings that are alarms. 0 where there is none of the kind.',
      record: 'nixl_host:alarms',
      expr: by([...TARGET, 'kind'], queries.valuesOf('nixl.findings', { level: 'alarm' })),
    },
    ofService('transfer_bytes:rate5m', 'direction'),
    ofService('requests:rate5m', 'direction'),
    ofService('errors:rate5m', 'status'),
    ofService('memory_bytes'),
    ...Object.entries(PERCENTILES).map(([word, quantile]) => ({
      record: `nixl_service:transfer_duration_seconds:${word}_rate5m`,
      expr: queries.quantile(quantile, DURATION, SERVICE, '5m'),
    })),
    ...queries.histograms(DURATION, SERVICE, '5m').map(({ unit, expr }, i) => ({
      comment: i === 0 ? ABOUT_HISTOGRAMS : undefined,
      record: `nixl_service:transfer_duration_${unit === 'us' ? 'us' : 'seconds'}:rate5m`,
      expr,
    })),
  ];
}
