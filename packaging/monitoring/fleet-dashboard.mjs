/** Dashboard of many hosts. Its queries read recorded series only. */
import { AGENTS_UID } from './agents-dashboard.mjs';
import {
  annotation,
  dashboard,
  dashboardLink,
  graph,
  heatmap,
  line,
  ranking,
  row,
  stat,
  targetVariables,
} from './dashboard.mjs';
import { withRunbook, withRunbooks } from './runbooks.mjs';

const CHOSEN = 'cluster=~"$cluster", namespace=~"$namespace"';
const CHOSEN_HOST = `${CHOSEN}, node=~"$node", instance=~"$host"`;
const SERVICE_LEGEND = '{{cluster}} {{namespace}} {{job}}';
const HOST_LEGEND = '{{node}} {{instance}}';
const TOP = 10;
const [RING_FULL, EVENTS_DROPPED, FOREIGN_MOVES] = ['ring_full', 'events_dropped', 'ring_foreign_moves'].map(
  (name) => `nixl_host:${name}:increase5m`,
);
const LOSSES = [RING_FULL, EVENTS_DROPPED, FOREIGN_MOVES];

export function fleetDashboard() {
  return dashboard({
    uid: 'nixl-otel-fleet',
    title: 'NIXL fleet',
    description: 'All hosts with NIXL agents. It needs recording-rules.yml and alerts.yml of nixl-otel.',
    variables: targetVariables('nixl_host:agents'),
    annotations: [annotation('Alarm', 'purple', `nixl_host:alarms{${CHOSEN_HOST}} > 0`, `{{kind}} ${HOST_LEGEND}`)],
    links: [dashboardLink('NIXL agents', AGENTS_UID)],
    rows: [
      row('Overview', overview(), { columns: 6, height: 4 }),
      row('Hosts that lose events', losses()),
      row('Top agents', topAgents(), { columns: 4 }),
      row('Throughput', throughput(), { columns: 2 }),
      row('Latency and errors', latency()),
    ],
  });
}

const NONE = `0 * count(nixl_host:agents{${CHOSEN_HOST}})`;

/** Count of hosts for which the comparison holds. */
function hosts(series, comparison) {
  return `count(sum by (cluster, namespace, node, instance) (${series}) ${comparison}) or ${NONE}`;
}

function overview() {
  const verdict = (title, expr, options) => stat(title, [line(expr, title)], options);
  return [
    verdict(
      'Alerts firing',
      `count(ALERTS{alertname=~"Nixl.+", alertstate="firing", severity!="info", ${CHOSEN_HOST}}) or ${NONE}`,
      { bad: 1, description: withRunbooks('Alerts of nixl-otel, without those of severity info.') },
    ),
    verdict('Hosts that lose events', hosts(`{__name__=~"${LOSSES.join('|')}", ${CHOSEN_HOST}}`, '> 0'), {
      bad: 1,
      description: withRunbook(
        'Hosts with a full ring, dropped events or another consumer in the last five minutes.',
        'NixlRingFoundFull',
        'NixlEventsDropped',
        'NixlForeignConsumer',
      ),
    }),
    verdict('Hosts with failing agents', hosts(`nixl_host:error_ratio:rate5m{${CHOSEN_HOST}}`, '> 0.01'), {
      bad: 1,
      description: withRunbook('Hosts on which more than 1 % of the operations fail.', 'NixlErrorRatioHigh'),
    }),
    verdict('Hosts', hosts(`nixl_host:agents{${CHOSEN_HOST}}`, '> 0'), {
      bad: 1,
      down: true,
      description: withRunbook('Hosts with agents.', 'NixlNoAgents'),
    }),
    verdict('Agents', `sum(nixl_host:agents{${CHOSEN_HOST}})`, { description: 'Agents that are exported.' }),
    verdict('Bytes per second', `sum(nixl_host:transfer_bytes:rate5m{${CHOSEN_HOST}})`, {
      unit: 'Bps',
      description: 'Both directions, over five minutes.',
    }),
  ];
}

function losses() {
  const top = (title, series, description, alert) =>
    ranking(title, [line(`topk(${TOP}, ${series}{${CHOSEN_HOST}})`, HOST_LEGEND)], {
      unit: 'short',
      bad: 0.5,
      description: withRunbook(description, alert),
    });
  return [
    top(
      'Drains that found a ring full',
      RING_FULL,
      'In the last five minutes. Events may be missing.',
      'NixlRingFoundFull',
    ),
    top(
      'Events dropped by agents',
      EVENTS_DROPPED,
      'In the last five minutes, as far as the agents could report it.',
      'NixlEventsDropped',
    ),
    top(
      'Moves by other consumers',
      FOREIGN_MOVES,
      'Moves of read positions in the last five minutes.',
      'NixlForeignConsumer',
    ),
  ];
}

function topAgents() {
  const top = (title, expr, unit, limits = {}) =>
    ranking(title, [line(`topk(${TOP}, ${expr})`, '{{agent}} {{instance}}')], { unit, ...limits });
  const ofAgent = 'sum without (direction)';
  return [
    top('Bytes per second', `${ofAgent} (nixl:transfer_bytes:rate5m{${CHOSEN_HOST}})`, 'Bps'),
    top('Slowdown of transfers', `max without (direction) (nixl:transfer_slowdown{${CHOSEN_HOST}})`, 'suffix: times', {
      warn: 1.5,
      bad: 4,
    }),
    top('p99 of transfer time', `nixl:transfer_duration_seconds:p99_rate5m{${CHOSEN_HOST}}`, 's'),
    top('Share of operations that failed', `nixl:error_ratio:rate5m{${CHOSEN_HOST}}`, 'percentunit', {
      warn: 0.0001,
      bad: 0.01,
    }),
  ];
}

function throughput() {
  const ofService = (series, word) => [line(`${series}{${CHOSEN}}`, `${SERVICE_LEGEND} {{${word}}}`)];
  return [
    graph('Bytes per second', ofService('nixl_service:transfer_bytes:rate5m', 'direction'), { unit: 'Bps' }),
    graph('Requests per second', ofService('nixl_service:requests:rate5m', 'direction'), { unit: 'reqps' }),
    graph(
      'Bytes per second of the busiest hosts',
      [line(`topk(${TOP}, nixl_host:transfer_bytes:rate5m{${CHOSEN_HOST}})`, HOST_LEGEND)],
      { unit: 'Bps' },
    ),
    graph('Memory registered', [line(`nixl_service:memory_bytes{${CHOSEN}}`, SERVICE_LEGEND)], { unit: 'bytes' }),
  ];
}

function latency() {
  const percentiles = ['p50', 'p90', 'p99'].map((word) =>
    line(`nixl_service:transfer_duration_seconds:${word}_rate5m{${CHOSEN}}`, `${word} ${SERVICE_LEGEND}`),
  );
  return [
    graph('Transfer time over all agents', percentiles, {
      unit: 's',
      fill: 0,
      description:
        'From native histograms where Prometheus has them. From buckets otherwise: then percentiles are estimates between their bounds, and below 10 us they are not right.',
    }),
    heatmap('Transfer time over all agents', histograms(), {
      description:
        'Transfers per second by their time, from native histograms where Prometheus has them. Bounds are microseconds in naming nixl, and seconds in naming otel. If services of both are in view, those of naming nixl count.',
    }),
    graph(
      'Errors per second by status',
      [line(`nixl_service:errors:rate5m{${CHOSEN}}`, `${SERVICE_LEGEND} {{status}}`)],
      {
        unit: 'cps',
        stacked: true,
      },
    ),
  ];
}

function histograms() {
  const recorded = (unit) => `nixl_service:transfer_duration_${unit}:rate5m{${CHOSEN}}`;
  return `sum by (le) (${recorded('us')}) or sum by (le) (${recorded('seconds')}) unless on () ${recorded('us')}`;
}
