/** Panels of the dashboard of agents that set bytes of agents beside bytes of ports and interfaces, which node_exporter has. */
import { graph, line } from './dashboard.mjs';
import { by } from './queries.mjs';

/** Counters of a port, by the direction as agents have it. */
const PORT_BYTES = {
  transmit: 'node_infiniband_port_data_transmitted_bytes_total',
  receive: 'node_infiniband_port_data_received_bytes_total',
};
const PORT_RATE = 'node_infiniband_rate_bytes_per_second';
const INTERFACE_BYTES = {
  transmit: 'node_network_transmit_bytes_total',
  receive: 'node_network_receive_bytes_total',
};
/** Interfaces that carry bytes of another one once more, or never leave the host. */
const NOT_PHYSICAL = [
  ...[
    'lo',
    'veth.+',
    'cali.+',
    'lxc.+',
    'docker.+',
    'br-.+',
    'cni.+',
    'flannel.+',
    'cilium.+',
    'vxlan.+',
    'genev.+',
    'ovs.+',
  ],
  ...[
    'eni.+',
    'gke.+',
    'azv.+',
    'virbr.+',
    'tun.+',
    'tap.+',
    'bond.+',
    'team.+',
    'dummy.+',
    'kube-.+',
    'vlan.+',
    '.+[.].+',
  ],
].join('|');

const NEEDS_NODE_EXPORTER =
  'Needs node_exporter, with the labels `cluster` and `node` as serve has them, or without them on both: then all its hosts count.';
const PEERS = 'Ports also carry what peers read and wrote here, which the peers count.';

/** `range`: of rates. */
export function networkPanels(queries, range) {
  const hosts = queries.values('nixl.collector.ticks');
  const rateOf = (series) => `rate(${series}[${range}])`;
  const ofHosts = (expression) => `${expression} and on (cluster, node) (${hosts})`;
  const agents = line(by(['direction'], queries.rate('nixl.transfer.io', range)), 'agents {{direction}}');
  const beside = (word, series, matchers = '') => [
    agents,
    ...Object.entries(series).map(([direction, name]) =>
      line(by([], ofHosts(rateOf(name + matchers))), `${word} ${direction}`),
    ),
  ];
  return [
    graph('Bytes of agents and RDMA ports', beside('ports', PORT_BYTES), {
      unit: 'Bps',
      fill: 0,
      description: `If agents have more bytes than the ports of their hosts, the others went by TCP, storage, memory or links of GPUs. ${PEERS} ${NEEDS_NODE_EXPORTER} It lacks cards that count in \`hw_counters\` alone, such as EFA.`,
    }),
    graph('Bytes of agents and interfaces', beside('interfaces', INTERFACE_BYTES, `{device!~"${NOT_PHYSICAL}"}`), {
      unit: 'Bps',
      fill: 0,
      description: `Counts network interfaces, but no bridges, bonds or interfaces of containers. Bytes of TCP are in it, bytes of RDMA are not. ${NEEDS_NODE_EXPORTER}`,
    }),
    graph('Load of RDMA ports', Object.entries(PORT_BYTES).map(loadOf), {
      unit: 'percentunit',
      max: 1,
      fill: 0,
      description: `Bytes of each port as a share of its rate: whether some carry all and others are idle. ${NEEDS_NODE_EXPORTER}`,
    }),
    graph('Agents by way', ['tx', 'rx'].map(agentsBy), {
      unit: 'short',
      fill: 0,
      description:
        'By the way of what they wrote and of what they read, as it was certain for a minute. Not certain: also agents that move nothing. Needs a serve with its live page.',
    }),
  ];

  function loadOf([direction, name]) {
    const share = ofHosts(`${rateOf(name)} / ${PORT_RATE}`);
    return line(by(['instance', 'device', 'port'], share), `{{device}}/{{port}} ${direction} {{instance}}`);
  }

  function agentsBy(word) {
    const label = `way_${word}`;
    const counts = by([label], queries.values('nixl.agent.info'), 'count');
    return line(`label_replace(${counts}, "${label}", "not certain", "${label}", "")`, `${word} {{${label}}}`);
  }
}
