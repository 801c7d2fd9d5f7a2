/** By which way an agent's bytes go: shapes and words. Pure; the live page uses this module, too. */
import { listed, numberText, percent } from '../ground/figures/figure.js';

/** `neither`: memory of the host or links between GPUs, which no counter shows. */
export type WayKind = 'tcp' | 'rdma' | 'storage' | 'mixed' | 'neither' | 'unknown';
/** Kinds whose bytes a counter shows. */
export type CountedWay = 'tcp' | 'rdma' | 'storage';

/** The way of one direction, from windows in which the agent moved bytes. */
export interface Way {
  readonly kind: WayKind;
  /** Interfaces as `eth0`, RDMA ports as `mlx5_0/1`, `disk` or `files`; empty for `neither` and `unknown`. */
  readonly ports: readonly string[];
  /** Bytes of the ports for each byte of the agent, without other traffic; absent unless a port carries them. */
  readonly bytesPerByte?: number;
  /** Windows of about five seconds in which it moved bytes. */
  readonly windows: number;
  /** `likely`: its pace was so even that other traffic of the same pace would look alike. */
  readonly sure: 'certain' | 'likely' | 'unknown';
  /** Reason for which the way is unknown. */
  readonly why?: string;
  /** Since when it is seen, milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Way that was seen before this one, as words. */
  readonly before?: string;
}

export interface Ways {
  readonly tx?: Way;
  readonly rx?: Way;
}

/** Plug-ins, devices and files by which a process may move bytes. Absent fields are not visible. */
export interface ProcessPath {
  /** Plug-ins of NIXL in its maps: `UCX`, `POSIX`. */
  readonly backends?: readonly string[];
  /** RDMA devices that it holds open. UCX opens all that it may use. */
  readonly devices?: readonly string[];
  /** NUMA node of all its memory of the host; absent if it may take memory of several. */
  readonly memoryNode?: number;
}

export interface AgentPath extends Ways, ProcessPath {
  /** UCX_TLS and UCX_NET_DEVICES, as of the start of the process. */
  readonly ucxTls?: string;
  readonly ucxNetDevices?: string;
}

/** An RDMA port of the host, apart from its counters. Absent fields are not visible. */
export interface RdmaPort {
  /** `mlx5_0/1` */
  readonly name: string;
  readonly device: string;
  /** True if its state is ACTIVE. */
  readonly isActive?: boolean;
  /** Rate of the link in gigabits per second. */
  readonly gigabits?: number;
  /** `InfiniBand` or `Ethernet`. */
  readonly linkLayer?: string;
  readonly numaNode?: number;
  /** Interface that sends the packets of a device in software (soft RoCE). */
  readonly interface?: string;
}

/** An RDMA port with its bytes, where they are visible. */
export interface HostPort extends RdmaPort {
  /** Since the driver was loaded. */
  readonly receivedBytes?: number;
  readonly sentBytes?: number;
  /** Rates of the last seconds. */
  readonly receivedPerSecond?: number;
  readonly sentPerSecond?: number;
}

/** Bytes per second of one gigabit per second. */
const GIGABIT = 1e9 / 8;

/** Returns the rate of a port in bytes per second; undefined if it is not visible. */
export function rateOfPort({ gigabits }: RdmaPort): number | undefined {
  return gigabits && gigabits * GIGABIT;
}

/**
 * Returns a rate of the agent as a share of the rates of its RDMA ports together. Returns undefined unless its bytes certainly go
 * by RDMA alone and the rate of each of its ports is visible.
 */
export function shareOfPorts(
  bytesPerSecond: number | undefined,
  way: Way | undefined,
  ports: readonly RdmaPort[],
): number | undefined {
  if (bytesPerSecond === undefined || way?.kind !== 'rdma' || way.sure !== 'certain') return undefined;
  const rateByName = new Map(ports.map((port) => [port.name, rateOfPort(port)]));
  const rates = way.ports.map((name) => rateByName.get(name) ?? 0);
  if (rates.length === 0 || rates.includes(0)) return undefined;
  return bytesPerSecond / rates.reduce((sum, rate) => sum + rate, 0);
}

/** Returns `tcp by eth0`, `rdma by mlx5_0/1`, `storage`, `neither`; undefined if it is unknown. */
export function wayText({ kind, ports }: Way): string | undefined {
  if (kind === 'unknown') return undefined;
  return kind === 'neither' || ports.length === 0 ? kind : `${kind} by ${listed(ports)}`;
}

/** Returns the ways of both directions as one text; undefined if none is known. */
export function waysText({ tx, rx }: Ways): string | undefined {
  const [sent, received] = [tx && wayText(tx), rx && wayText(rx)];
  if (sent === undefined || received === undefined || sent === received) return sent ?? received;
  return `tx ${sent}, rx ${received}`;
}

/** Returns the way and how it is known, or why it is not: `tcp by eth0: eth0 carried 101% of its bytes; ...`. */
export function explainedWay(way: Way): string {
  return `${wayText(way) ?? 'unknown'}: ${reasonOfWay(way)}`;
}

function reasonOfWay({ kind, why, bytesPerByte, windows, sure, ports }: Way): string {
  if (kind === 'unknown') return why ?? 'not seen';
  const seen = `seen in ${numberText(windows)} windows`;
  if (kind === 'neither')
    return `no interface, RDMA port or disk carries its bytes: memory of the host, or links of GPUs; ${seen}`;
  const ratio = bytesPerByte === undefined ? '' : `${listed(ports)} carried ${percent(bytesPerByte)} of its bytes; `;
  return `${ratio}${seen}${sure === 'likely' ? ', at an even pace, so that other traffic could look alike' : ''}`;
}
