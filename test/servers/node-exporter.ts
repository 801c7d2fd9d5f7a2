/** A real node_exporter over made trees of /proc and /sys: two RDMA ports, and an interface beside those that do not count. */
import path from 'node:path';
import { writeTree } from '../support/tree-of-files.js';
import { Server } from './server.js';

const CARDS = ['mlx5_0', 'mlx5_1'];
/** What a card must have for node_exporter. */
const CARD = {
  ...{ board_id: 'MT_0000000838', fw_ver: '28.42.1000', hca_type: 'MT4129' },
  'ports/1/state': '4: ACTIVE',
  'ports/1/phys_state': '5: LinkUp',
  'ports/1/link_layer': 'InfiniBand',
  'ports/1/rate': '400 Gb/sec (4X NDR)',
  'ports/1/counters/port_rcv_data': '25',
  'ports/1/counters/port_xmit_data': '1000',
  'ports/1/hw_counters/out_of_sequence': '0',
};
const INTERFACES = ['lo', 'eth0', 'veth7', 'br-7', 'bond0'];

export function startNodeExporter(): Promise<Server> {
  return Server.start({
    program: 'prometheus-node-exporter',
    ready: '/',
    args: (directory, address) => {
      writeTree(directory, { 'proc/net/dev': interfacesText() });
      for (const card of CARDS) writeTree(`${directory}/sys/class/infiniband/${card}`, CARD);
      return [
        ...['--collector.disable-defaults', '--collector.infiniband', '--collector.netdev'],
        '--no-collector.netdev.netlink', // it knows no other host
        `--path.procfs=${path.join(directory, 'proc')}`,
        `--path.sysfs=${path.join(directory, 'sys')}`,
        `--web.listen-address=${address}`,
      ];
    },
  });
}

function interfacesText(): string {
  const heading = [
    'Inter-| Receive | Transmit',
    ` face |${'bytes packets errs drop fifo frame compressed multicast|'.repeat(2)}`,
  ];
  const zeros = ' 0'.repeat(7);
  return [...heading, ...INTERFACES.map((name) => `${name}: 1000${zeros} 2000${zeros}`)].join('\n');
}
