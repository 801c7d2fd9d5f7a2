/** Expressions of the dashboards over the series of a real serve, by promtool: it sets the times of samples. */
import { expect, it } from 'vitest';
import { scrape, start, startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { comparedIn, DASHBOARDS, filledIn, PANELS } from './dashboard-files.js';
import { startNodeExporter } from './node-exporter.js';
import { type SeriesTest, testRules, testSeries } from './rules/rule-test.js';
import { SPELLINGS } from './rules/spelled.js';
import { LINE_OF_TIME } from './spelled-fleet.js';

const HOST = { host: 'a', __range: '1h' };
/** Default interval of pushes. */
const PUSHED_EVERY = '60s';
/** Values of $__rate_interval: with that scrape interval set in the data source, and with Grafana's default of 15 s. */
const [SET, UNSET] = ['240s', '60s'];
/** Between two samples: Prometheus 2 counts samples at both ends of a range. */
const AT = '10m30s';
/** Gauges that follow the first collect later. */
const MODEL = [
  ...['nixl_transfer_base_time{', 'nixl_transfer_asymptotic_rate{', 'nixl_transfer_post_share{'],
  ...['nixl_transfer_slowdown{', 'nixl_post_slowdown{'],
];

/** Returns a page of a serve once it has these texts. */
async function pageOf(directory: string, ...texts: string[]): Promise<string> {
  const [, url] = await start(['serve', '--dir', directory, '--port', '0', '--series', 'full']).says(
    /serves (http:\S+)/,
  );
  let page = '';
  await until(async () => {
    page = await scrape(url!);
    return texts.every((text) => page.includes(text));
  });
  return page;
}

/** Returns the series of a page with eleven samples. `growth`: of each counter and bucket from sample to sample. */
function seriesOf(page: string, growth: number): SeriesTest['input_series'] {
  const growing = [...page.matchAll(/^# TYPE (\S+) (counter|histogram)$/gm)].flatMap(([, name, type]) =>
    type === 'counter' ? [name!] : ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`),
  );
  const lines = [...page.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)];
  expect(lines.length).toBeGreaterThan(20);
  return lines.map(([, name, labels = '', value]) => ({
    series: `${name}{job="nixl-otel", instance="${HOST.host}"${labels === '' ? '' : `, ${labels}`}}`,
    values: `${value}+${growing.includes(name!) ? growth : 0}x10`,
  }));
}

it('have data if samples come every 60 s, and the data source knows it', async () => {
  const directory = temporaryDirectory();
  startTransferSource(['--dir', directory, '--seconds', '0', '--rate', '200', '--errors', '20', ...LINE_OF_TIME]);
  const expressions = [
    ...PANELS.flatMap(({ targets }) => targets!.map(({ expr }) => expr)),
    ...DASHBOARDS.flatMap(({ annotations }) => annotations.list.map(({ expr }) => comparedIn(expr))),
  ];
  const page = await pageOf(directory, 'agent_errors_total', ...MODEL);
  const pageOfHost = await scrape(`${(await startNodeExporter()).url}/metrics`);
  const rates = PANELS.find(({ title }) => title === 'Transmit by agent')!.targets!.map(({ expr }) => expr);
  const check = (expr: string, __rate_interval: string, samples: SeriesTest['promql_expr_test'][0]['exp_samples']) => ({
    expr: `count(${filledIn(expr, { ...HOST, __rate_interval })}) > bool 0`,
    eval_time: AT,
    exp_samples: samples,
  });
  await testSeries([
    {
      name: 'samples every 60 s',
      interval: PUSHED_EVERY,
      input_series: seriesOf([page, pageOfHost].join(''), 60),
      promql_expr_test: [
        ...expressions.map((expr) => check(expr, SET, [{ labels: '{}', value: 1 }])),
        ...rates.map((expr) => check(expr, UNSET, [])),
      ],
    },
  ]);
});

it('count ports and interfaces of the hosts of the chosen agents only', async () => {
  const panelsOf = (...titles: string[]) => PANELS.filter(({ title }) => titles.includes(title));
  const host = (node: string, instance: string) => `{node="${node}", instance="${instance}"`;
  const counted = (name: string, perMinute: number) =>
    ['n1', 'n2'].map((node) => ({
      series: `${name.replace('{', `${host(node, `${node}:9100`)}, `)}`,
      values: `0+${node === 'n1' ? perMinute : 7e6}x10`,
    }));
  const port = '{device="mlx5_0", port="1"}';
  const sums = panelsOf('Bytes of agents and RDMA ports', 'Bytes of agents and interfaces');
  const load = panelsOf('Load of RDMA ports');
  await testSeries([
    {
      name: 'ports of two hosts, agents of one',
      interval: PUSHED_EVERY,
      input_series: [
        { series: `nixl_collector_ticks_total${host('n1', HOST.host)}}`, values: '0+1x10' },
        ...counted(`node_infiniband_port_data_transmitted_bytes_total${port}`, 600),
        ...counted(`node_infiniband_port_data_received_bytes_total${port}`, 1200),
        ...counted(`node_infiniband_rate_bytes_per_second${port}`, 0).map(({ series }) => ({
          series,
          values: '50x10',
        })),
        ...['eth0', 'lo', 'veth1', 'bond0'].flatMap((name) => [
          ...counted(`node_network_transmit_bytes_total{device="${name}"}`, 1800),
          ...counted(`node_network_receive_bytes_total{device="${name}"}`, 2400),
        ]),
      ],
      promql_expr_test: [
        ...sums
          .flatMap(({ targets }) => targets!.slice(1))
          .map(({ expr }, i) => ({
            expr: `round(${filledIn(expr, { ...HOST, __rate_interval: SET })}, 0.01)`,
            eval_time: AT,
            exp_samples: [{ labels: '{}', value: [10, 20, 30, 40][i]! }],
          })),
        ...load[0]!.targets!.map(({ expr }, i) => ({
          expr: `round(${filledIn(expr, { ...HOST, __rate_interval: SET })}, 0.01)`,
          eval_time: AT,
          exp_samples: [{ labels: '{instance="n1:9100", device="mlx5_0", port="1"}', value: [0.2, 0.4][i]! }],
        })),
      ],
    },
  ]);
});

it.each([
  ['nixl', 'nixl_agent_idle', 'agent_name', 'display_name'],
  ['otel', 'nixl_agent_idle', 'nixl_agent_name', 'nixl_agent_display_name'],
])('name agents as they are called now, in naming %s', async (_, idle, agent, displayName) => {
  const { targets } = PANELS.find(({ title }) => title === 'Idle')!;
  const series = (name: string, agentName: string, values: string, more = '') => ({
    series: `${name}{instance="${HOST.host}", ${agent}="${agentName}"${more}}`,
    values,
  });
  const called = (name: string) => `, ${displayName}="${name}"`;
  const line = (agentName: string, name: string, value: number) => ({
    labels: `{instance="${HOST.host}", agent="${agentName}", display_name="${name}"}`,
    value,
  });
  await testSeries([
    {
      name: 'an engine that named its process after two minutes, and an agent of a service without names',
      interval: '60s',
      input_series: [
        ...['of-engine', 'of-service'].map((name) => series('nixl_ring_suspect', name, '0x9')),
        series(idle, 'of-engine', '5x9'),
        series(idle, 'of-service', '6x9'),
        // A pushed series has no end: for five minutes Prometheus has both.
        series('nixl_agent_info', 'of-engine', '1x2', called('of-engine')),
        series('nixl_agent_info', 'of-engine', '_x2 1x7', called('vllm :8100 decode')),
      ],
      promql_expr_test: [
        {
          expr: filledIn(targets![0]!.expr, HOST),
          eval_time: '5m',
          exp_samples: [line('of-engine', 'vllm :8100 decode', 5), line('of-service', 'of-service', 6)],
        },
      ],
    },
  ]);
});

it('count 0 agents and hosts where serve runs without agents', async () => {
  const verdicts = [
    'Agents',
    'Hosts',
    'Alerts firing',
    'Hosts that lose events',
    'Hosts with failing agents',
    'Hosts without an answer',
  ];
  const panels = PANELS.filter(({ title, type }) => type === 'stat' && verdicts.includes(title));
  expect(panels.map(({ title }) => title).sort()).toEqual([...verdicts, 'Agents'].sort());
  await testSeries([
    {
      name: 'serve without agents',
      interval: PUSHED_EVERY,
      input_series: seriesOf(await pageOf(temporaryDirectory(), 'nixl_collector_ticks_total'), 0),
      promql_expr_test: panels.map(({ targets }) => ({
        expr: filledIn(targets![0]!.expr, HOST),
        eval_time: AT,
        exp_samples: [{ labels: '{}', value: 0 }],
      })),
    },
  ]);
});

it.each(Object.entries(SPELLINGS))('count hosts by each kind of loss, of series %s', async (_, spelling) => {
  const { targets } = PANELS.find(({ title }) => title === 'Hosts that lose events')!;
  await testRules(
    [
      {
        name: 'hosts that lose events',
        input: [
          ['ring full', { instance: 'full', agent_name: 'x' }, '0+1x10'],
          ['events dropped', { instance: 'dropped', agent_name: 'x' }, '0+1x10'],
          ['foreign moves', { instance: 'foreign', agent_name: 'x' }, '0+1x10'],
          ['ring full', { instance: 'before', agent_name: 'x' }, '3x10'],
        ],
        checks: [[filledIn(targets![0]!.expr, { host: '.*' }), 10, [['{}', 3]]]],
      },
    ],
    spelling,
  );
});

it('count hosts without an answer, whatever their job', async () => {
  const { targets } = PANELS.find(({ title }) => title === 'Hosts without an answer')!;
  const expression = filledIn(targets![0]!.expr, { host: '.*' });
  const job = 'models/dynamo-worker';
  await testRules(
    [
      {
        name: 'hosts without an answer',
        input: [
          ['serve', { instance: 'answers' }, '1x10'],
          ['serve', { instance: 'down' }, '1x5 0x4'],
          ['serve', { job, instance: 'down, too' }, '1x5 0x4'],
          ['ticks', { job, instance: 'down, too' }, '0+3000x5 stale'],
          ['serve', { job, instance: 'no serve' }, '0x10'],
        ],
        checks: [
          [expression, 5, [['{}', 0]]],
          [expression, 10, [['{}', 2]]],
        ],
      },
    ],
    SPELLINGS['scraped, naming nixl']!,
  );
});
