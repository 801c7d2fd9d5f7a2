/** Alerts. All read the recorded series, or their labels in the one name of these. */
import { by, JOB, TARGET } from './queries.mjs';
import { RUNBOOK_BASE, runbookOf } from './runbooks.mjs';

const AGENT = [...TARGET, 'agent'];
const ON_TARGET = `on (${TARGET.join(', ')})`;
/** An agent in a text. */
const WHERE = '{{ $labels.agent }} on {{ $labels.instance }}';
const HOST = '{{ $labels.instance }}';
const NO_RANDOM_INSTANCE = 'instance!~".{8}-.{4}-4.{3}-.{4}-.{12}"';
const WEEK_SECONDS = 7 * 86_400;
/** A factor in a text. */
const TIMES = '{{ printf "%.1f" $value }}';
/** Of an agent. An instance of a scrape is an address, by OTLP it is an id. Prometheus does not know whether an address has TLS. */
const LIVE_PAGE =
  '{{ if match "^.+:[0-9]+$" $labels.instance }}http://{{ $labels.instance }}/#agent={{ $labels.agent | urlquery }}{{ end }}';
/** In five minutes. */
const LEAST_ERRORS = 5;
const BUSY_PER_IDLE = 3;
/** A lower factor is no finding. */
const SLOW = 1.5;

/**
 * Returns the alerts. `queries`: without matchers. For docs/dashboards.md: `after`, if it is not `for`;
 * `withSeriesNixl` of those that fire with the preset `nixl`, which test/servers/rules has a case for.
 */
function alerts(queries) {
  const problems = (states) => {
    const [nixl, otel] = ['state', 'nixl_ring_state'].map((label) => `${label}=~"|${states}"`);
    return `sum by (${TARGET.join(', ')}) (nixl_collector_problems{${nixl}, ${otel}}) > 0`;
  };
  const slow = (series, kind) =>
    `max by (${AGENT.join(', ')}) (${series}) > ${SLOW} and ${ON_TARGET} nixl_host:alarms{kind="${kind}"} > 0`;
  const ticks = queries.values('nixl.collector.ticks');
  const sumBy = (labels, series = 'nixl:requests:rate5m') => `sum by (${labels.join(', ')}) (${series})`;
  const dead = `${by(AGENT, queries.values('nixl.agent.up'), 'max')} == 0`;
  const idle = `${sumBy(AGENT)} == 0 and ${sumBy(AGENT, 'max_over_time(nixl:requests:rate5m[1h])')} > 0 unless ${dead}`;
  const lastOf = (name) => by(AGENT, queries.last(name, '5m'), 'max');
  return [
    {
      comment: 'A target that service discovery has removed has no up. A target of another job is known by its ticks.',
      alert: 'NixlOtelDown',
      expr: queries.unanswered(),
      for: '2m',
      severity: 'critical',
      withSeriesNixl: true,
      summary: `nixl-otel on ${HOST} does not answer`,
      description:
        'If nixl-otel has ended, no process drains the rings of that host. They fill up within seconds, and later events are lost.',
    },
    {
      comment: `A serve under another job name, or that pushes, has no such up. Its ticks show that it is there, and with --series nixl
the bytes of its agents. NIXL's own exporter has these under another job.`,
      alert: 'NixlOtelAbsent',
      expr: `absent(up{${JOB}}) unless on () ${ticks} unless on () ${queries.ofJob('nixl.transfer.io')}`,
      for: '5m',
      severity: 'critical',
      withSeriesNixl: true,
      summary: 'No nixl-otel is scraped, and none pushes',
      description:
        'Prometheus has no target of the job nixl-otel, and no nixl-otel reports under another job or by OTLP. No other alert can fire.',
    },
    {
      comment:
        'By OTLP there is no up: the collector stops to report. A UUID of version 4 is that of a serve which waits for another, and gives it up with the wait.',
      alert: 'NixlOtelSilent',
      expr: `${by(TARGET, queries.last('nixl.collector.ticks', '15m', [NO_RANDOM_INSTANCE]), 'max')}
unless ${by(TARGET, ticks, 'max')}
unless on (job, instance) last_over_time(up[15m])`,
      after: '5m', // Prometheus' lookback
      severity: 'warning',
      summary: `nixl-otel on ${HOST} has stopped to push`,
      description: 'It has ended, or its pushes fail. If it has ended, no process drains the rings of that host.',
    },
    {
      alert: 'NixlNoAgents',
      expr: `${by(TARGET, queries.values('nixl.collector.agents'))} == 0`,
      for: '15m',
      severity: 'info',
      summary: `nixl-otel on ${HOST} has found no agent`,
      description:
        'No agent runs there, or the agents write no rings into the directories of nixl-otel. nixl-otel doctor says which.',
    },
    {
      alert: 'NixlRingFoundFull',
      expr: 'nixl:ring_full:increase5m > 0',
      severity: 'warning',
      summary: `The ring of ${WHERE} was full`,
      description:
        'Events may be lost. Give the agents a larger NIXL_TELEMETRY_BUFFER_SIZE, or nixl-otel more processor time.',
    },
    {
      alert: 'NixlRingNearlyFull',
      expr: `${by(AGENT, queries.values('nixl.ring.utilization'), 'max')} > 0.8`,
      for: '1m',
      severity: 'warning',
      summary: `The ring of ${WHERE} fills to {{ $value | humanizePercentage }}`,
      description: 'The next burst may not fit. Give the agents a larger NIXL_TELEMETRY_BUFFER_SIZE.',
    },
    {
      alert: 'NixlEventsDropped',
      expr: 'nixl:events_dropped:increase5m > 0',
      severity: 'warning',
      withSeriesNixl: true,
      summary: `${WHERE} dropped events before they reached its ring`,
      description: 'The sums of this agent lack the dropped events.',
    },
    {
      alert: 'NixlForeignConsumer',
      expr: 'nixl:ring_foreign_moves:increase5m > 0',
      severity: 'warning',
      summary: `Another consumer drains the ring of ${WHERE}`,
      description:
        'Each event of a ring reaches only one consumer. The metrics lack the events that the other consumer took.',
    },
    {
      alert: 'NixlRingShared',
      expr: `${by(AGENT, queries.values('nixl.ring.writers'), 'max')} > 1`,
      for: '1m',
      severity: 'warning',
      summary: `{{ $value }} processes write the ring of ${WHERE}`,
      description:
        'Agents of one name overwrite events of each other. Give each process its own directory, or its own agent name.',
    },
    {
      alert: 'NixlNumbersSuspect',
      expr: 'nixl:ring_unfollowed:increase5m > 0',
      severity: 'warning',
      summary: `The numbers of ${WHERE} may be wrong`,
      description:
        'nixl-otel could not follow a restart of the agent, or several processes wrote its ring. Its sums stay what they are.',
    },
    {
      alert: 'NixlRingResynced',
      expr: 'nixl:ring_damages:increase5m > 0.5',
      severity: 'warning',
      summary: `The ring of ${WHERE} was damaged`,
      description: 'The read position was resynchronised. The events pending at that time are lost.',
    },
    {
      comment:
        'Custom builders, or histograms of NixlInstrumentation. serve without custom builders has neither series.',
      alert: 'NixlEventsPassedBy',
      expr: `sum by (${TARGET.join(', ')}) (nixl:builders_events:increase5m{outcome="lost"}) > 0
or sum by (${TARGET.join(', ')}) (nixl:duration_events:increase5m{outcome="lost"}) > 0`,
      severity: 'warning',
      summary: `Builders or histograms on ${HOST} missed events`,
      description: 'Events arrive faster than these process them. All sums are exact.',
    },
    {
      comment: `A share says little about few operations: an agent that finishes none has 100 % with its first error. increase()
estimates: with samples each minute, four errors may count as five.`,
      alert: 'NixlErrorRatioHigh',
      expr: `nixl:error_ratio:rate5m > 0.01 and ${sumBy(AGENT, 'nixl:errors:increase5m')} >= ${LEAST_ERRORS}`,
      for: '5m',
      severity: 'warning',
      withSeriesNixl: true,
      summary: `{{ $value | humanizePercentage }} of the operations of ${WHERE} fail`,
      description: 'The series nixl:errors:rate5m has the errors by status.',
    },
    {
      comment: `nixl-otel judges by size: a slowdown alone may be late asking or load. The finding is one of the host, and names no agent;
the slowdown does.`,
      alert: 'NixlTransfersSlow',
      expr: slow('nixl:transfer_slowdown', 'slow-transfers'),
      for: '1m',
      severity: 'warning',
      summary: `Transfers of ${WHERE} take ${TIMES} times as long as usual at the same sizes`,
      description: 'Neither load nor late asking explains it. The live page says since when, at which sizes, and why.',
    },
    {
      alert: 'NixlPostsSlow',
      expr: slow('nixl:post_slowdown', 'slow-posts'),
      for: '1m',
      severity: 'warning',
      summary: `Posts of ${WHERE} take ${TIMES} times as long as usual at the same sizes`,
      description: 'The network is not the cause. The live page says since when, and at which sizes.',
    },
    {
      comment: `Memory that was left registered is no proof of a failure: vLLM deregisters nothing. A dead agent is exported for --dead-ttl, and at least until one
scrape has read it: therefore the last value counts, for five minutes.`,
      alert: 'NixlAgentEnded',
      expr: `${lastOf('nixl.agent.up')} == 0
and ${lastOf('nixl.memory.usage')} > 0
and ${lastOf('nixl.memory.approximate')} == 0
and ${sumBy(AGENT, 'nixl:requests:increase5m')} > 0`,
      severity: 'info',
      summary: `${WHERE} has ended while it transferred`,
      description:
        'Its memory was still registered. After the clean stop of an engine that looks as it does after a kill. NixlAgentsMissing fires if no agent comes in its place.',
    },
    {
      comment: 'By the verdict of nixl-otel, which knows what came in the place of an agent.',
      alert: 'NixlAgentsMissing',
      expr: 'nixl_host:alarms{kind="ended"} > 0',
      severity: 'warning',
      summary: `Agents on ${HOST} ended, and were not replaced or had failed`,
      description:
        'No successor came within three minutes, or they ended after errors, or one ended again and again. The live page names them; their logs and the log of their host say why.',
    },
    {
      comment: `Idle is an agent without a finished transfer that had some in the last hour: the peer of a transfer counts nothing. A dead
agent is not idle, however long it is exported. Three agents of its host are busy for each idle one: two models may share a host, and
one of them may have no work.`,
      alert: 'NixlAgentIdle',
      expr: `(${idle})
and ${ON_TARGET} (count by (${TARGET.join(', ')}) (${sumBy(AGENT)} > 0) >= ${BUSY_PER_IDLE} * count by (${TARGET.join(', ')}) (${idle}))`,
      for: '10m',
      severity: 'warning',
      withSeriesNixl: true,
      summary: `${WHERE} has finished no transfer for 15 minutes, most others of its host have`,
      description: 'The process may hang, or get no work: see its log, and nixl.agent.idle.',
    },
    {
      comment: `Leaves out state corrupt: the directory may hold other files. A serve that waits in an upgrade has busy rings for less
than five minutes.`,
      alert: 'NixlRingUnreadable',
      expr: problems('incompatible|denied|busy'),
      for: '5m',
      severity: 'warning',
      summary: `Unreadable rings on ${HOST}: {{ $value }}`,
      description: '/readyz of that nixl-otel lists the rings and the reasons.',
    },
    {
      alert: 'NixlDirectoryNearlyFull',
      expr: problems('no_space'),
      for: '5m',
      severity: 'warning',
      summary: `Directories without space for further agents on ${HOST}: {{ $value }}`,
      description:
        'An agent that finds no space for its ring ends by SIGBUS. /readyz of that nixl-otel says what takes it.',
    },
    {
      alert: 'NixlStateNotKept',
      expr: problems('no_state'),
      for: '5m',
      severity: 'warning',
      summary: `Agents on ${HOST} without their state files: {{ $value }}`,
      description:
        'Their counts began at 0, or will at the next restart of that nixl-otel. /readyz lists the files and the reasons.',
    },
    {
      comment: 'The range is shorter than the time below: failures that have ended do not fire.',
      alert: 'NixlExportFailing',
      expr: `${by([...TARGET, 'exporter'], queries.increase('nixl.exporter.failures', '3m'))} > 0`,
      for: '5m',
      severity: 'warning',
      summary: `Exports of {{ $labels.exporter }} on ${HOST} fail`,
      description: 'The log of that nixl-otel has the receiver and the reason.',
    },
    {
      alert: 'NixlWebConfigStale',
      expr: `${by(TARGET, queries.values('nixl.http.config.stale'), 'max')} > 0`,
      for: '5m',
      severity: 'warning',
      summary: `nixl-otel on ${HOST} cannot use its changed web configuration`,
      description:
        'It continues with the former certificates and users. With a damaged or unsuitable file it would not start again. Its log has the file and the reason.',
    },
    {
      comment: `Renewals begin earlier: those of cert-manager when a third of the time is left. Certificates that are valid for less than
a month need a lower limit.`,
      alert: 'NixlCertificateExpires',
      expr: `${by(TARGET, queries.values('nixl.http.certificate.expiry'), 'min')} - time() < ${WEEK_SECONDS}`,
      severity: 'warning',
      summary: `Time until the certificate of nixl-otel on ${HOST} ends: {{ $value | humanizeDuration }}`,
      description: 'After its end, clients that verify certificates refuse this nixl-otel, Prometheus included.',
    },
    {
      alert: 'NixlCollectorLate',
      expr: `${by(TARGET, queries.rate('nixl.collector.late_ticks', '5m'))} / ${by(TARGET, queries.rate('nixl.collector.ticks', '5m'))} > 0.05`,
      for: '5m',
      severity: 'warning',
      summary: `nixl-otel on ${HOST} is late for {{ $value | humanizePercentage }} of its drains`,
      description: 'The collector gets too little processor time, so rings may fill up.',
    },
  ];
}

/** Returns the rules of the file. */
export function alertGroup(queries) {
  const rules = alerts(queries).map(({ comment, alert, expr, for: after, severity, summary, description }) => ({
    comment,
    alert,
    expr,
    ...(after === undefined ? {} : { for: after }),
    labels: { severity },
    annotations: {
      summary,
      description,
      runbook_url: `${RUNBOOK_BASE}${runbookOf(alert)}`,
      ...(summary.includes(WHERE) && { live_page: LIVE_PAGE }),
    },
  }));
  return { name: 'nixl-otel-alerts', rules };
}

/** Returns the list of docs/dashboards.md. */
export function alertList(queries) {
  const all = alerts(queries);
  const ofSeverity = (severity) =>
    all
      .filter((alert) => alert.severity === severity)
      .map(({ alert, for: lasting, after = lasting }) =>
        [`[\`${alert}\`](runbooks.md#${alert.toLowerCase()})`, after].filter(Boolean).join(' '),
      );
  const severities = [...new Set(all.map(({ severity }) => severity))];
  return [
    ...severities.map((severity) => `- **${severity}**: ${ofSeverity(severity).join(', ')}`),
    '',
    alertsOfSeriesNixl(queries),
  ].join('\n');
}

function alertsOfSeriesNixl(queries) {
  const names = alerts(queries)
    .filter(({ withSeriesNixl }) => withSeriesNixl)
    .map(({ alert }) => `\`${alert}\``);
  return `With \`--series nixl\` only these can fire: ${names.join(', ')}.`;
}
