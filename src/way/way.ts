/** By which way an agent's bytes go: shapes and words. Pure; the live page uses this module, too. */
import { listed, numberText } from '../ground/figures/figure.js';

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

/** What its process has loaded and opened. Absent fields are not visible. */
export interface AgentPath {
  readonly tx?: Way;
  readonly rx?: Way;
  /** Plug-ins of NIXL in the maps of the process. */
  readonly backends?: readonly string[];
  /** RDMA devices that the process holds open. */
  readonly devices?: readonly string[];
  /** UCX_TLS and UCX_NET_DEVICES, as of the start of the process. */
  readonly ucxTls?: string;
  readonly ucxNetDevices?: string;
}

/** An RDMA port of the host. Absent fields are not visible. */
export interface HostPort {
  readonly name: string;
  readonly device: string;
  readonly isActive?: boolean;
  readonly gigabits?: number;
  readonly linkLayer?: string;
  readonly numaNode?: number;
  /** Since the driver was loaded. */
  readonly receivedBytes?: number;
  readonly sentBytes?: number;
  /** Of the last seconds. */
  readonly receivedPerSecond?: number;
  readonly sentPerSecond?: number;
}

/** Returns `tcp by eth0`, `rdma by mlx5_0/1`, `storage`, `neither`; undefined if it is unknown. */
export function wayText({ kind, ports }: Way): string | undefined {
  if (kind === 'unknown') return undefined;
  return kind === 'neither' || ports.length === 0 ? kind : `${kind} by ${listed(ports)}`;
}

/** Returns the ways of both directions as one text; undefined if none is known. */
export function waysText({ tx, rx }: Pick<AgentPath, 'tx' | 'rx'>): string | undefined {
  const [sent, received] = [tx && wayText(tx), rx && wayText(rx)];
  if (sent === undefined || received === undefined || sent === received) return sent ?? received;
  return `tx ${sent}, rx ${received}`;
}

/** Returns how the way is known, or why it is not. */
export function wayReason({ kind, why, bytesPerByte, windows, sure, ports }: Way): string {
  if (kind === 'unknown') return why ?? 'not seen';
  const seen = `seen in ${numberText(windows)} windows`;
  if (kind === 'neither')
    return `no interface, RDMA port or disk carries its bytes: memory of the host, or links of GPUs; ${seen}`;
  const ratio =
    bytesPerByte === undefined
      ? ''
      : `${listed(ports)} carried ${numberText(bytesPerByte)} bytes for each of its bytes; `;
  return `${ratio}${seen}${sure === 'likely' ? ', at an even pace, so that other traffic could look alike' : ''}`;
}
