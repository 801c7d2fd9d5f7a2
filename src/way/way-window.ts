/** Bytes of agents and of counters in the same seconds. Pure. */
import type { CountedWay } from './way.js';

export interface MovedBytes {
  readonly sent: number;
  readonly received: number;
}

export interface AgentInWindow extends MovedBytes {
  readonly id: number;
  /** Network namespace of its process; absent if it is not visible. */
  readonly network?: string | undefined;
  /** RDMA devices that its process holds open; absent if that is not visible. */
  readonly devices?: readonly string[] | undefined;
  /** True if a plug-in for files is loaded and the bytes of files are not visible. */
  readonly filesUnseen?: boolean;
}

export interface CounterInWindow extends MovedBytes {
  readonly port: string;
  readonly kind: CountedWay;
  /** Network namespace of an interface, device of an RDMA port, id of the agent for files. */
  readonly scope: string;
}

export interface WayWindow {
  /** End of the window, milliseconds since the epoch. */
  readonly takenMs: number;
  readonly agents: readonly AgentInWindow[];
  readonly counters: readonly CounterInWindow[];
  /** RDMA devices of which a port shows no counters; `interface`: that which sends its packets, of a device in software. */
  readonly unseenDevices: readonly { readonly device: string; readonly interface?: string }[];
}

export function mayCarry({ kind, scope }: CounterInWindow, { id, network, devices }: AgentInWindow): boolean {
  if (kind === 'tcp') return scope === network;
  return kind === 'rdma' ? devices === undefined || devices.includes(scope) : scope === String(id);
}
