/** RDMA ports of the host, from /sys. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../ground/errors.js';
import type { RdmaPort } from '../way/way.js';
import type { ByteCounts } from './interfaces.js';

/** Counters of InfiniBand count words of four bytes. */
const WORD_BYTES = 4;

/** Returns the ports below `sysDir`, in the order of their names; none without the driver. */
export function rdmaPorts(sysDir: string): RdmaPort[] {
  const top = join(sysDir, 'class/infiniband');
  const devices = attempt(() => readdirSync(top).toSorted()) ?? [];
  return devices.flatMap((device) => {
    const numa = Number(textIn(join(top, device, 'device/numa_node')) ?? '-1');
    const parent = textIn(join(top, device, 'parent'));
    const ports = attempt(() => readdirSync(join(top, device, 'ports')).toSorted()) ?? [];
    return ports.map((port): RdmaPort => {
      const about = (name: string): string | undefined => textIn(join(top, device, 'ports', port, name));
      const [state, gigabits, linkLayer] = [
        about('state'),
        Number.parseFloat(about('rate') ?? ''),
        about('link_layer'),
      ];
      return {
        name: `${device}/${port}`,
        device,
        ...(state === undefined ? {} : { isActive: /\bACTIVE\b/.test(state) }),
        ...(gigabits > 0 ? { gigabits } : {}),
        ...(linkLayer === undefined ? {} : { linkLayer }),
        ...(numa >= 0 ? { numaNode: numa } : {}),
        ...(parent === undefined ? {} : { interface: parent }),
      };
    });
  });
}

/**
 * Returns the bytes of a port; undefined where its counters are not visible, as in a container. Those of single operations, such as
 * rdma_read_bytes, stay 0 on some cards although bytes flow, and are not used.
 */
export function rdmaBytes({ name, device }: RdmaPort, sysDir: string): ByteCounts | undefined {
  const port = join(sysDir, 'class/infiniband', device, 'ports', name.slice(device.length + 1));
  const words = (counter: string): number => WORD_BYTES * numberIn(join(port, 'counters', counter));
  const bytes = (counter: string): number => numberIn(join(port, 'hw_counters', counter));
  const standard = { receivedBytes: words('port_rcv_data'), sentBytes: words('port_xmit_data') };
  if (!Number.isNaN(standard.receivedBytes + standard.sentBytes)) return standard;
  const own = { receivedBytes: bytes('rx_bytes'), sentBytes: bytes('tx_bytes') };
  return Number.isNaN(own.receivedBytes + own.sentBytes) ? undefined : own;
}

/** Returns the device of a file of verbs: `uverbs0` is `mlx5_0`. */
export function deviceOfVerbs(verbs: string, sysDir: string): string | undefined {
  return textIn(join(sysDir, 'class/infiniband_verbs', verbs, 'ibdev'));
}

function textIn(path: string): string | undefined {
  return attempt(() => readFileSync(path, 'latin1').trim());
}

function numberIn(path: string): number {
  const text = textIn(path);
  return text === undefined || !/^\d+$/.test(text) ? Number.NaN : Number(text);
}
