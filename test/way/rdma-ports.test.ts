/** RDMA ports in made trees of /sys: two cards, a port that is down, a slow one, counters of another kind, and none. */
import { expect, test } from 'vitest';
import { deviceOfVerbs, rdmaBytes, rdmaPorts } from '../../src/host/rdma-ports.js';
import { temporaryDirectory } from '../support/live.js';
import { writeTree } from '../support/tree-of-files.js';

function treeOf(files: Readonly<Record<string, string>>): string {
  const tree = temporaryDirectory();
  writeTree(`${tree}/class`, files);
  return tree;
}

const CARD = 'infiniband/mlx5_0';

test('names ports with state, rate, link layer and NUMA node', () => {
  const tree = treeOf({
    [`${CARD}/device/numa_node`]: '1',
    [`${CARD}/ports/1/state`]: '4: ACTIVE',
    [`${CARD}/ports/1/rate`]: '400 Gb/sec (4X NDR)',
    [`${CARD}/ports/1/link_layer`]: 'InfiniBand',
    [`${CARD}/ports/2/state`]: '1: DOWN',
    'infiniband/rxe0/parent': 'eth0',
    'infiniband/rxe0/ports/1/state': '4: ACTIVE',
    'infiniband/rdmap0s6/device/numa_node': '-1',
    'infiniband/rdmap0s6/ports/1/state': '4: ACTIVE',
    'infiniband/rdmap0s6/ports/1/rate': '5 Gb/sec (1X SDR)',
  });
  expect(rdmaPorts(tree)).toEqual([
    { name: 'mlx5_0/1', device: 'mlx5_0', isActive: true, gigabits: 400, linkLayer: 'InfiniBand', numaNode: 1 },
    { name: 'mlx5_0/2', device: 'mlx5_0', isActive: false, numaNode: 1 },
    { name: 'rdmap0s6/1', device: 'rdmap0s6', isActive: true, gigabits: 5 },
    { name: 'rxe0/1', device: 'rxe0', isActive: true, interface: 'eth0' },
  ]);
  expect(rdmaPorts(temporaryDirectory())).toEqual([]);
});

test('counts bytes by words of four bytes, or by the counters of the card', () => {
  const tree = treeOf({
    [`${CARD}/ports/1/counters/port_rcv_data`]: '25',
    [`${CARD}/ports/1/counters/port_xmit_data`]: '1000',
    'infiniband/efa_0/ports/1/hw_counters/rx_bytes': '7',
    'infiniband/efa_0/ports/1/hw_counters/tx_bytes': '9',
    'infiniband/efa_0/ports/1/hw_counters/rdma_read_bytes': '0',
    'infiniband/bare_0/ports/1/state': '4: ACTIVE',
    'infiniband_verbs/uverbs0/ibdev': 'mlx5_0',
  });
  const [bare, efa, card] = rdmaPorts(tree);
  expect(rdmaBytes(card!, tree)).toEqual({ receivedBytes: 100, sentBytes: 4000 });
  expect(rdmaBytes(efa!, tree)).toEqual({ receivedBytes: 7, sentBytes: 9 });
  expect(rdmaBytes(bare!, tree)).toBeUndefined();
  expect(deviceOfVerbs('uverbs0', tree)).toBe('mlx5_0');
  expect(deviceOfVerbs('uverbs1', tree)).toBeUndefined();
});
