/**
 * Dashboard of agents: verdicts first, then loss and health, then what the agents do, and serve itself at the end. It needs no
 * recording rules.
 */
import {
  annotation,
  dashboard,
  dashboardLink,
  graph,
  heatmap,
  line,
  queryVariable,
  row,
  stat,
  table,
  targetVariables,
  valueHeatmap,
} from './dashboard.mjs';
import { networkPanels } from './network-panels.mjs';
import { by, BY_AGENT, JOB, Queries } from './queries.mjs';
import { withRunbook } from './runbooks.mjs';
import { LABELS } from './spellings.mjs';

export const AGENTS_UID = 'nixl-otel';
const CHOSEN_HOST = 'cluster=~"$cluster", node=~"$node", instance=~"$host"';
const CHOSEN_TARGET = `namespace=~"$namespace", ${CHOSEN_HOST}`;
const RATE = '$__rate_interval';
const RANGE = '$__range';
const AGENT_LEGEND = '{{display_name}} {{instance}}';
const BY_DIRECTION = [...BY_AGENT, 'direction'];
const DIRECTION_LEGEND = '{{display_name}} {{direction}} {{instance}}';
const ESTIMATES =
  'In a text scrape, percentiles are estimates between the bounds of a histogram, and its first bucket ends at 10 us: below that, only the mean is right.';
const WIDE_BOUNDS = 'In a text scrape, the bounds of `--series standard` are far apart, and so are the estimates.';
const LAST_MINUTE = 'In the last minute, as the application saw it.';
const TIMES = 'suffix: times';
const AS_USUAL =
  'How many times as long as usual at the same sizes. Load and late asking may explain it: then it is no alarm.';
const NEEDS_FULL = 'Needs `--series full`: other presets have no series of classes.';

export function agentsDashboard(model) {
  // A series has the agent's name in one of the labels, and lacks the other one.
  const agent = LABELS.agent.map((label) => `${label}=~"$agent|"`).join(', ');
  const queries = new Queries(model, { target: CHOSEN_TARGET, info: CHOSEN_HOST, agent });
  return dashboard({
    uid: AGENTS_UID,
    title: 'NIXL agents',
    description: 'Telemetry of NVIDIA NIXL agents, as nixl-otel exports it: in either naming, scraped or by OTLP.',
    variables: variables(model),
    annotations: annotations(queries),
    links: [dashboardLink('NIXL fleet', 'nixl-otel-fleet')],
    rows: [
      row('Overview', overview(queries), { columns: 6, height: 4 }),
      row('Agents', [agentTable(queries)], { columns: 1 }),
      row('Loss', loss(queries)),
      row('Health', health(queries)),
      row('Errors', errors(queries)),
      row('Throughput', throughput(queries)),
      row('Network', networkPanels(queries, RATE), { columns: 2 }),
      row('Requests', requests(queries), { columns: 2 }),
      row('Latency', latency(queries)),
      row('Time by size', timeBySize(queries)),
      row('Sizes', sizes(queries)),
      row('Memory', memory(queries)),
      row('nixl-otel serve', serve(new Queries(model, { target: `${JOB}, ${CHOSEN_TARGET}`, agent: '' })), {
        collapsed: true,
      }),
    ],
  });
}

function variables(model) {
  const inTarget = new Queries(model, { target: CHOSEN_TARGET, agent: '' });
  return [
    ...targetVariables('nixl_ring_suspect'),
    queryVariable('agent', by(['agent'], inTarget.values('nixl.ring.suspect'), 'group')),
  ];
}

function annotations(queries) {
  return [
    annotation(
      'Restart',
      'orange',
      `${queries.named(by(BY_AGENT, queries.increase('nixl.agent.restarts', '5m')))} > 0`,
      `${AGENT_LEGEND} restarted`,
    ),
    annotation(
      'Alarm',
      'purple',
      `${by(['instance', 'kind'], queries.valuesOf('nixl.findings', { level: 'alarm' }))} > 0`,
      '{{kind}} {{instance}}',
    ),
    annotation(
      'End',
      'red',
      `${queries.named(by(BY_AGENT, queries.last('nixl.agent.up', '1m'), 'max'))} == 0`,
      `${AGENT_LEGEND} ended`,
    ),
  ];
}

/** Count of the series that a comparison holds for: 0 if there are none of these, and nothing without any series. */
function countOf(labels, expression, comparison, aggregate = 'max') {
  return `sum((${by(labels, expression, aggregate)}) ${comparison})`;
}

function overview(queries) {
  const { values, increase, rate, last } = bound(queries);
  const ticks = values('nixl.collector.ticks');
  const zero = `0 * count(${ticks})`;
  const total = (name) => by([], increase(name, RANGE));
  const failed = by([], rate('nixl.errors', '5m'));
  const finished = by([], rate('nixl.transfer.requests', '5m'));
  const verdict = (title, expr, options) => stat(title, [line(expr, title)], options);
  return [
    verdict('Hosts without an answer', `count(${queries.unanswered()}) or 0 * count(${queries.up(JOB)}) or ${zero}`, {
      bad: 1,
      description: withRunbook(
        'Targets that Prometheus cannot scrape: of the job nixl-otel, and others that have answered within the last hour. By OTLP there is no such number.',
        'NixlOtelDown',
      ),
    }),
    verdict('Drains that found a ring full', total('nixl.ring.full'), {
      bad: 0.5,
      description: withRunbook('In the chosen time. Events may be missing from all sums below.', 'NixlRingFoundFull'),
    }),
    verdict('Events dropped by agents', total('nixl.telemetry.events.dropped'), {
      bad: 0.5,
      description: withRunbook('In the chosen time, as far as the agents could report it.', 'NixlEventsDropped'),
    }),
    verdict('Taken by other consumers', total('nixl.ring.foreign_moves'), {
      bad: 0.5,
      description: withRunbook('Moves of read positions in the chosen time.', 'NixlForeignConsumer'),
    }),
    verdict('Failed operations', `${failed} / (${failed} + ${finished} > 0) or 0 * ${finished}`, {
      unit: 'percentunit',
      warn: 0.0001,
      bad: 0.01,
      description: withRunbook('Share of the last five minutes.', 'NixlErrorRatioHigh'),
    }),
    verdict('Agents ended', countOf(BY_AGENT, last('nixl.agent.up', '5m'), '== bool 0'), {
      warn: 1,
      description: withRunbook('In the last five minutes, as intended or not.', 'NixlAgentEnded', 'NixlAgentsMissing'),
    }),
    verdict('Agents', `count(${values('nixl.ring.suspect')} unless ${values('nixl.agent.up')} == 0) or ${zero}`, {
      bad: 1,
      down: true,
      description: withRunbook('Agents that are alive, or of unknown life.', 'NixlNoAgents'),
    }),
    verdict('Bytes per second', by([], rate('nixl.transfer.io', RATE)), {
      unit: 'Bps',
      description: 'Both directions.',
    }),
    verdict('Slowest transfers', by([], values('nixl.transfer.slowdown'), 'max'), {
      unit: TIMES,
      warn: 1.5,
      bad: 4,
      description: withRunbook(`Of all agents and directions. ${AS_USUAL}`, 'NixlTransfersSlow'),
    }),
    verdict('Fullest ring', by([], values('nixl.ring.utilization'), 'max'), {
      unit: 'percentunit',
      warn: 0.5,
      bad: 0.8,
      description: withRunbook('Highest fill ratio of a ring in the last 15 to 30 s.', 'NixlRingNearlyFull'),
    }),
    verdict(
      'Late drains',
      `${by([], rate('nixl.collector.late_ticks', '5m'))} / ${by([], rate('nixl.collector.ticks', '5m'))}`,
      {
        unit: 'percentunit',
        warn: 0.01,
        bad: 0.05,
        description: withRunbook("Share of the collectors' ticks in the last five minutes.", 'NixlCollectorLate'),
      },
    ),
    verdict('Failed exports', total('nixl.exporter.failures'), {
      bad: 0.5,
      description: withRunbook('In the chosen time.', 'NixlExportFailing'),
    }),
  ];
}

function agentTable(queries) {
  const { values, increase, rate } = bound(queries);
  const moved = (direction) => by(BY_AGENT, rate('nixl.transfer.io', RATE, direction));
  return table(
    'Agents',
    [
      queries.named(by(BY_AGENT, values('nixl.ring.suspect'), 'group')),
      queries.infos(['engine', 'role', 'ranks', 'pod', 'way_tx', 'way_rx']),
      moved('transmit'),
      moved('receive'),
      by(BY_AGENT, values('nixl.transfer.slowdown'), 'max'),
      by(BY_AGENT, values('nixl.memory.usage')),
      by(BY_AGENT, increase('nixl.errors', RANGE)),
    ],
    {
      columns: [
        ['Agent', 'display_name'],
        ['Host', 'instance'],
        ['Engine', 'engine'],
        ['Role', 'role'],
        ['Ranks', 'ranks'],
        ['Pod', 'pod'],
        ['tx', 'C', 'Bps'],
        ['tx by', 'way_tx'],
        ['rx', 'D', 'Bps'],
        ['rx by', 'way_rx'],
        ['Slowdown', 'E', TIMES],
        ['Memory registered', 'F', 'bytes'],
        ['Errors', 'G', 'short'],
        ['Name of NIXL', 'agent'],
      ],
      description: `Engine, role, ranks and pod as far as they are known. ${AS_USUAL} Errors of the chosen time.`,
    },
  );
}

/** Methods of the queries as functions. */
function bound(queries) {
  const names = ['values', 'increase', 'rate', 'last'];
  return Object.fromEntries(names.map((name) => [name, queries[name].bind(queries)]));
}

function loss(queries) {
  const { values, increase, rate } = bound(queries);
  const perAgent = (name) => [line(queries.named(by(BY_AGENT, rate(name, RATE))), AGENT_LEGEND)];
  return [
    graph('Drains that found a ring full', perAgent('nixl.ring.full'), {
      unit: 'cps',
      description: withRunbook(
        'When this grows, events may be missing: give the agents a larger NIXL_TELEMETRY_BUFFER_SIZE.',
        'NixlRingFoundFull',
      ),
    }),
    graph('Ring fill', [line(queries.named(by(BY_AGENT, values('nixl.ring.utilization'), 'max')), AGENT_LEGEND)], {
      unit: 'percentunit',
      max: 1,
      fill: 0,
      description: withRunbook('Highest fill ratio of the ring in the last 15 to 30 s.', 'NixlRingNearlyFull'),
    }),
    graph('Time that rings were full', perAgent('nixl.ring.full_time'), {
      unit: 'percentunit',
      description: 'Upper bound: the time from the previous drain to a drain that found the ring full.',
    }),
    graph('Events dropped by agents', perAgent('nixl.telemetry.events.dropped'), {
      unit: 'cps',
      description: withRunbook(
        'Drops that the agents reported. A full ring refuses most of these reports as well.',
        'NixlEventsDropped',
      ),
    }),
    graph('Moves of read positions by other consumers', perAgent('nixl.ring.foreign_moves'), {
      unit: 'cps',
      description: withRunbook('Each move takes events that are then missing here.', 'NixlForeignConsumer'),
    }),
    graph(
      'Resynchronisations of read positions',
      [line(queries.named(by(BY_AGENT, increase('nixl.ring.resyncs', RATE))), AGENT_LEGEND)],
      {
        unit: 'short',
        description: withRunbook(
          'After a restart, damage or a foreign consumer. The events pending at that time are lost.',
          'NixlRingResynced',
        ),
      },
    ),
    stat('Agents with suspect numbers', [line(by([], values('nixl.ring.suspect')), 'agents')], {
      warn: 1,
      description: withRunbook(
        'The numbers may be wrong, because of a foreign consumer or a restart that the collector could not follow.',
        'NixlNumbersSuspect',
      ),
    }),
    graph('Events of unknown kinds', perAgent('nixl.events.unknown'), {
      unit: 'cps',
      description: 'They count under their numbers. A newer version of nixl-otel may know their names.',
    }),
  ];
}

function health(queries) {
  const { values, increase, rate } = bound(queries);
  const ofHost = ['instance'];
  return [
    stat('Agents by life', [line(by(['life'], values('nixl.collector.agents')), '{{life}}')], {
      description: 'Unknown: nixl-otel cannot see the process. Its /readyz says which right is missing.',
    }),
    graph('Idle', [line(queries.named(by(BY_AGENT, values('nixl.agent.idle'), 'max')), AGENT_LEGEND)], {
      unit: 's',
      fill: 0,
      description: withRunbook('Time since an agent last wrote an event.', 'NixlAgentIdle'),
    }),
    graph('Restarts', [line(queries.named(by(BY_AGENT, increase('nixl.agent.restarts', RATE))), AGENT_LEGEND)], {
      unit: 'short',
      description: 'Restarts of an agent under its name.',
    }),
    graph(
      'Files that cannot be read',
      [line(by(['instance', 'state'], values('nixl.collector.problems')), '{{state}} {{instance}}')],
      {
        unit: 'short',
        fill: 0,
        description: withRunbook('Files and directories without a readable ring, by state.', 'NixlRingUnreadable'),
      },
    ),
    graph(
      'Late drains',
      [
        line(
          `${by(ofHost, rate('nixl.collector.late_ticks', RATE))} / ${by(ofHost, rate('nixl.collector.ticks', RATE))}`,
          '{{instance}}',
        ),
      ],
      {
        unit: 'percentunit',
        fill: 0,
        description: withRunbook(
          "Share of the collector's ticks that began more than one drain interval late: the collector gets too little processor time.",
          'NixlCollectorLate',
        ),
      },
    ),
    graph(
      'Longest time between two drains',
      [line(by(ofHost, values('nixl.collector.lag.max'), 'max'), '{{instance}}')],
      {
        unit: 's',
        fill: 0,
        description: 'Longest time between the beginnings of two ticks, since serve started.',
      },
    ),
  ];
}

function errors(queries) {
  const { rate } = bound(queries);
  const all = by([], rate('nixl.errors', RATE));
  return [
    graph('Errors per second by status', [line(by(['status'], rate('nixl.errors', RATE)), '{{status}}')], {
      unit: 'cps',
      stacked: true,
      description: withRunbook("Failed operations, by NIXL's status.", 'NixlErrorRatioHigh'),
    }),
    graph('Errors per second by agent', [line(queries.named(by(BY_AGENT, rate('nixl.errors', RATE))), AGENT_LEGEND)], {
      unit: 'cps',
    }),
    graph(
      'Share of operations that failed',
      [line(`${all} / (${all} + ${by([], rate('nixl.transfer.requests', RATE))})`, 'failed')],
      { unit: 'percentunit' },
    ),
  ];
}

function throughput(queries) {
  const { rate } = bound(queries);
  const perAgent = (direction) => [
    line(queries.named(by(BY_AGENT, rate('nixl.transfer.io', RATE, direction))), AGENT_LEGEND),
  ];
  const single = (quantile) => queries.quantile(quantile, 'nixl.transfer.throughput', ['direction'], RATE);
  return [
    graph('Bytes per second', [line(by(['direction'], rate('nixl.transfer.io', RATE)), '{{direction}}')], {
      unit: 'Bps',
      description:
        'Bytes of finished transfers, by direction, over all chosen agents. Receive is what agents read, transmit what they wrote; the peer of a transfer counts nothing.',
    }),
    graph('Transmit by agent', perAgent('transmit'), { unit: 'Bps' }),
    graph('Receive by agent', perAgent('receive'), { unit: 'Bps' }),
    graph(
      'Throughput of single transfers',
      [line(single(0.5), 'p50 {{direction}}'), line(single(0.1), 'slowest tenth {{direction}}')],
      {
        unit: 'Bps',
        fill: 0,
        description: `Bytes of a transfer divided by its duration: the rate of one transfer, not the load of the link. ${WIDE_BOUNDS}`,
      },
    ),
    heatmap('Throughput of single transfers', queries.buckets('nixl.transfer.throughput', RATE), { unit: 'Bps' }),
  ];
}

function requests(queries) {
  const { rate } = bound(queries);
  const finished = rate('nixl.transfer.requests', RATE);
  return [
    graph('Requests per second', [line(by(['direction'], finished), '{{direction}}')], {
      unit: 'reqps',
      description: 'Finished transfer requests.',
    }),
    graph('Requests by agent', [line(queries.named(by(BY_AGENT, finished)), AGENT_LEGEND)], { unit: 'reqps' }),
  ];
}

function latency(queries) {
  const percentiles = (name) => [
    ...[0.5, 0.9, 0.99].map((quantile) => line(queries.quantile(quantile, name, [], RATE), `p${quantile * 100}`)),
    line(queries.mean(name, [], RATE), 'mean'),
  ];
  const slowdown = (name) => [line(queries.named(by(BY_DIRECTION, queries.values(name), 'max')), DIRECTION_LEGEND)];
  const duration = 'nixl.transfer.duration';
  return [
    graph('Transfer time', percentiles(duration), {
      unit: 's',
      fill: 0,
      description: `Time from post to completion, over all chosen agents. ${ESTIMATES}`,
    }),
    graph(
      'p99 of transfer time by agent',
      [line(queries.named(queries.quantile(0.99, duration, BY_AGENT, RATE)), AGENT_LEGEND)],
      {
        unit: 's',
        fill: 0,
        description: ESTIMATES,
      },
    ),
    graph('Post time', percentiles('nixl.transfer.post.duration'), {
      unit: 's',
      fill: 0,
      description: `Time until the backend has accepted a transfer. ${ESTIMATES}`,
    }),
    graph('Slowdown of transfers by agent', slowdown('nixl.transfer.slowdown'), {
      unit: TIMES,
      fill: 0,
      description: withRunbook(`${AS_USUAL} Growth of post time is left out.`, 'NixlTransfersSlow'),
    }),
    graph('Slowdown of posts by agent', slowdown('nixl.post.slowdown'), {
      unit: TIMES,
      fill: 0,
      description: withRunbook('How many times as long as usual at the same sizes.', 'NixlPostsSlow'),
    }),
    graph(
      'Mean post time by agent',
      [line(queries.named(queries.mean('nixl.transfer.post.duration', BY_AGENT, RATE)), AGENT_LEGEND)],
      {
        unit: 's',
        fill: 0,
        description: 'Exact, also below 10 us.',
      },
    ),
    heatmap('Transfer time', queries.buckets(duration, RATE), {
      description: 'Bounds are microseconds in naming nixl, and seconds in naming otel.',
    }),
    graph('Mean transfer time by agent', [line(queries.named(queries.mean(duration, BY_AGENT, RATE)), AGENT_LEGEND)], {
      unit: 's',
      fill: 0,
      description: 'Exact, also below 10 us.',
    }),
    graph(
      'Transfers in flight',
      [line(queries.named(by(BY_AGENT, queries.rate('nixl.transfer.time', RATE))), AGENT_LEGEND)],
      {
        unit: 'short',
        description: 'Transfer time per second of elapsed time: the mean number of concurrent transfers.',
      },
    ),
  ];
}

function timeBySize(queries) {
  const model = (name) => [line(queries.named(by(BY_DIRECTION, queries.values(name), 'max')), DIRECTION_LEGEND)];
  const medians = (name) => [
    line(queries.quantile(0.5, name, ['direction', 'up_to_bytes'], RATE), '{{direction}} up to {{up_to_bytes}} B'),
  ];
  const duration = 'nixl.transfer.size_class.duration';
  return [
    graph('Base time by agent', model('nixl.transfer.base.time'), {
      unit: 's',
      fill: 0,
      description: `Time of a transfer that does not depend on its size. ${LAST_MINUTE} Absent while the classes of sizes show no line.`,
    }),
    graph('Asymptotic rate by agent', model('nixl.transfer.asymptotic.rate'), {
      unit: 'Bps',
      fill: 0,
      description: `Rate that large transfers approach. ${LAST_MINUTE} Absent while the classes of sizes show no line.`,
    }),
    graph('Share of posting by agent', model('nixl.transfer.post.share'), {
      unit: 'percentunit',
      max: 1,
      fill: 0,
      description: 'Share of the time of transfers that posting took in the last minute.',
    }),
    graph('Median transfer time by class', medians(duration), {
      unit: 's',
      fill: 0,
      description: `Over all chosen agents, by the size of the whole request. ${NEEDS_FULL} In a text scrape, medians are estimates between bounds in steps of 4.`,
    }),
    graph('Median post time by class', medians('nixl.transfer.size_class.post.duration'), {
      unit: 's',
      fill: 0,
      description: `Over all chosen agents, by the size of the whole request. ${NEEDS_FULL}`,
    }),
    valueHeatmap('Transfers in flight by class', queries.sumRate(duration, ['up_to_bytes'], RATE), 'up_to_bytes', {
      unit: 'bytes',
      description: `Transfer time of the chosen agents per second of elapsed time, by the largest size of the class: in transfers of which size they spend their time. ${NEEDS_FULL}`,
    }),
  ];
}

function sizes(queries) {
  const size = 'nixl.transfer.size';
  const percentile = (quantile) => queries.quantile(quantile, size, ['direction'], RATE);
  return [
    graph('Transfer size', [line(percentile(0.5), 'p50 {{direction}}'), line(percentile(0.99), 'p99 {{direction}}')], {
      unit: 'bytes',
      fill: 0,
      description: WIDE_BOUNDS,
    }),
    heatmap('Transfer size', queries.buckets(size, RATE), { unit: 'bytes' }),
    graph('Mean size by agent', [line(queries.named(queries.mean(size, BY_AGENT, RATE)), AGENT_LEGEND)], {
      unit: 'bytes',
      fill: 0,
    }),
  ];
}

function memory(queries) {
  const { values, rate } = bound(queries);
  return [
    graph('Memory registered', [line(queries.named(by(BY_AGENT, values('nixl.memory.usage'))), AGENT_LEGEND)], {
      unit: 'bytes',
      stacked: true,
      description: 'Bytes of memory registered and not yet deregistered.',
    }),
    graph(
      'Registered and deregistered per second',
      [
        line(by([], rate('nixl.memory.registered', RATE)), 'registered'),
        line(by([], rate('nixl.memory.deregistered', RATE)), 'deregistered'),
      ],
      { unit: 'Bps' },
    ),
    stat('Agents with approximate memory figures', [line(by([], values('nixl.memory.approximate')), 'agents')], {
      description: 'The collector missed memory events of these agents.',
    }),
  ];
}

/** `queries`: of the job, because other programs have metrics of their processes under the same names. */
function serve(queries) {
  const { values, rate } = bound(queries);
  const ofExporter = ['instance', 'exporter'];
  const perHost = (expression) => [line(by(['instance'], expression), '{{instance}}')];
  return [
    graph(
      'Exports per second',
      [
        line(
          by([...ofExporter, 'result'], rate('nixl.exporter.exports', RATE)),
          '{{exporter}} {{result}} {{instance}}',
        ),
      ],
      {
        unit: 'cps',
        description: withRunbook(
          'By exporter and result. A page of /metrics is an export of the exporter prometheus.',
          'NixlExportFailing',
        ),
      },
    ),
    graph(
      'Time of an export',
      [
        line(
          `${by(ofExporter, rate('nixl.exporter.time', RATE))} / ${by(ofExporter, rate('nixl.exporter.exports', RATE))}`,
          '{{exporter}} {{instance}}',
        ),
      ],
      {
        unit: 's',
        fill: 0,
        description: 'Mean time to make a page, or to send what was collected, by exporter.',
      },
    ),
    graph('Resident memory', perHost(values('process.memory.usage')), {
      unit: 'bytes',
      fill: 0,
      description: 'Memory of the process.',
    }),
    graph('Processor time', perHost(rate('process.cpu.time', RATE)), {
      unit: 'percentunit',
      fill: 0,
      description: 'Time of all threads of serve, in user and in kernel mode. 100 % is one core.',
    }),
    graph('Open descriptors', perHost(values('process.unix.file_descriptor.count')), {
      unit: 'short',
      fill: 0,
      description: 'Descriptors of files, rings and connections.',
    }),
  ];
}
