/** Reads the counters beside the samples of serve, and finds the way of each agent's bytes. */
import { type ByteCounts, interfacesOf, networkNamespaceOf } from '../../host/interfaces.js';
import { fileBytesOf, processPath } from '../../host/process-path.js';
import { rdmaBytes, rdmaPorts } from '../../host/rdma-ports.js';
import { initialEnvironment } from '../../shm-bridge/agent-process.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import type { AgentPath, HostPort, ProcessPath, RdmaPort } from '../../way/way.js';
import { SteadyWays } from '../../way/steady-ways.js';
import { WayJudge } from '../../way/way-judge.js';
import type { AgentInWindow, CounterInWindow } from '../../way/way-window.js';

/** Samples are taken every five seconds, and more often while the page is open. */
const LEAST_WINDOW_MS = 4500;
/** Longest window. After a longer pause a counter holds too much traffic of other programs. */
const MOST_WINDOW_MS = 30_000;
/** Ports come, go, and change their state. */
const PORTS_AGAIN_MS = 60_000;
/** Time between two reads of the files that a process has open. The first read follows its first transfer. */
const PATH_AGAIN_MS = 300_000;
/** Most processes whose maps and files one sample reads: the maps of an engine have megabytes. */
const MOST_PATHS = 2;
/** Plug-ins of NIXL that read and write files. */
const FILE_BACKENDS: readonly string[] = ['POSIX', 'GDS', 'GDS_MT', 'HF3FS'];

function usesFiles({ backends = [] }: ProcessPath): boolean {
  return backends.some((one) => FILE_BACKENDS.includes(one));
}

interface Known extends ProcessPath {
  readonly pid: number;
  readonly network: string | undefined;
  readonly ucxTls?: string | undefined;
  readonly ucxNetDevices?: string | undefined;
  readonly readMs: number;
  /** True if it was read after the first bytes. */
  readonly hadMoved: boolean;
}

/** Sums of an agent or a counter at the last sample. */
type Sums = ReadonlyMap<string, ByteCounts>;

interface CounterReading {
  readonly takenMs: number;
  readonly agents: Sums;
  readonly counters: Sums;
  /** Network namespaces whose interfaces were visible. */
  readonly networks: ReadonlySet<string>;
}

export class WayWatch {
  readonly #sysDir: string;
  readonly #procDir: string;
  readonly #judge = new WayJudge();
  /** Ways that lasted, for series. */
  readonly steady = new SteadyWays();
  #known = new Map<number, Known>();
  #ports: { readonly list: readonly RdmaPort[]; readonly readMs: number } | undefined;
  #last: CounterReading | undefined;
  #hostPorts: readonly HostPort[] = [];

  /** `sysDir`: the host's /sys, as this process sees it. `procDir`: for tests. */
  constructor(sysDir = '/sys', procDir = '/proc') {
    this.#sysDir = sysDir;
    this.#procDir = procDir;
  }

  /** Returns the ways of an agent, and what its process has opened; undefined before anything is known. */
  of(id: number): AgentPath | undefined {
    const known = this.#known.get(id);
    const ways = this.#judge.of(id);
    if (known === undefined && ways.tx === undefined && ways.rx === undefined) return undefined;
    const { backends, devices, memoryNode, ucxTls, ucxNetDevices } = known ?? {};
    return {
      ...ways,
      ...(backends && { backends }),
      ...(devices && { devices }),
      ...(memoryNode !== undefined && { memoryNode }),
      ...(ucxTls !== undefined && { ucxTls }),
      ...(ucxNetDevices !== undefined && { ucxNetDevices }),
    };
  }

  /** RDMA ports of the host with their bytes. */
  get ports(): readonly HostPort[] {
    return this.#hostPorts;
  }

  /** Takes a sample, if it is time for one. */
  take(takenMs: number, agents: readonly ServedAgent[]): void {
    const last = this.#last;
    const sinceMs = takenMs - (last?.takenMs ?? -Infinity);
    if (sinceMs >= 0 && sinceMs < LEAST_WINDOW_MS) return;
    const seen = agents.filter(({ pid, life }) => pid !== undefined && life !== 'dead');
    this.#readPaths(seen, takenMs);
    if (this.#ports === undefined || Math.abs(takenMs - this.#ports.readMs) > PORTS_AGAIN_MS) {
      this.#ports = { list: rdmaPorts(this.#sysDir), readMs: takenMs };
    }
    const counters = new Map<string, CounterInWindow>();
    const networks = new Set<string>();
    const sums = this.#readCounters(seen, counters, networks);
    const sumsOfAgents = new Map(
      agents.map(({ id, txBytes, rxBytes }) => [String(id), { sentBytes: txBytes, receivedBytes: rxBytes }]),
    );
    this.#last = { takenMs, agents: sumsOfAgents, counters: sums, networks };
    this.#hostPorts = this.#ports.list.map((port) => ({ ...port, ...speedOf(port, this.#last!, last) }));
    if (last === undefined || sinceMs < 0 || sinceMs > MOST_WINDOW_MS) return;
    this.#judge.take({
      takenMs,
      agents: seen.map((agent): AgentInWindow => {
        const id = String(agent.id);
        const { network = '', devices, ...path } = this.#known.get(agent.id) ?? {};
        const isVisible = networks.has(network) && last.networks.has(network);
        const filesUnseen = usesFiles(path) && !sums.has(keyOf('storage', id, 'disk'));
        return {
          id: agent.id,
          network: isVisible ? network : undefined,
          devices,
          filesUnseen,
          ...grown(last.agents, sumsOfAgents, id),
        };
      }),
      counters: [...counters].flatMap(([key, counter]) =>
        last.counters.has(key) ? [{ ...counter, ...grown(last.counters, sums, key) }] : [],
      ),
      unseenDevices: this.#ports.list.filter(({ device, name }) => !sums.has(keyOf('rdma', device, name))),
    });
    this.steady.take(takenMs, new Map(agents.map(({ id }) => [id, this.#judge.of(id)])));
  }

  /** Reads some of the processes that are not known, or may have opened more since. */
  #readPaths(agents: readonly ServedAgent[], nowMs: number): void {
    const known = new Map<number, Known>();
    let read = 0;
    for (const { id, pid, txBytes, rxBytes } of agents) {
      const before = this.#known.get(id);
      const hasMoved = txBytes + rxBytes > 0;
      const isFresh =
        before?.pid === pid && Math.abs(nowMs - before!.readMs) < PATH_AGAIN_MS && (before!.hadMoved || !hasMoved);
      if (isFresh || read >= MOST_PATHS) {
        if (before !== undefined) known.set(id, before);
        continue;
      }
      read++;
      known.set(id, this.#read(pid!, nowMs, hasMoved));
    }
    this.#known = known;
  }

  #read(pid: number, readMs: number, hadMoved: boolean): Known {
    const variables = initialEnvironment(pid, this.#procDir);
    return {
      pid,
      ...{ readMs, hadMoved },
      ...processPath(pid, this.#sysDir, this.#procDir),
      network: networkNamespaceOf(pid, this.#procDir),
      ucxTls: variables?.get('UCX_TLS'),
      ucxNetDevices: variables?.get('UCX_NET_DEVICES'),
    };
  }

  #readCounters(agents: readonly ServedAgent[], counters: Map<string, CounterInWindow>, networks: Set<string>): Sums {
    const sums = new Map<string, ByteCounts>();
    const add = (kind: CounterInWindow['kind'], scope: string, port: string, bytes: ByteCounts | undefined): void => {
      if (bytes === undefined) return;
      const key = keyOf(kind, scope, port);
      sums.set(key, bytes);
      counters.set(key, { port, kind, scope, sent: 0, received: 0 });
    };
    for (const { id, pid } of agents) {
      const { network, ...path } = this.#known.get(id) ?? {};
      if (network !== undefined && !networks.has(network)) {
        const interfaces = interfacesOf(pid!, this.#procDir);
        // A process that has just ended shows none: another one may be in the same namespace.
        if (interfaces !== undefined) networks.add(network);
        for (const [name, bytes] of interfaces ?? []) add('tcp', network, name, bytes);
      }
      if (!usesFiles(path)) continue;
      const files = fileBytesOf(pid!, this.#procDir);
      add('storage', String(id), 'disk', files?.disk);
      add('storage', String(id), 'files', files?.calls);
    }
    for (const port of this.#ports?.list ?? []) add('rdma', port.device, port.name, rdmaBytes(port, this.#sysDir));
    return sums;
  }
}

function keyOf(kind: CounterInWindow['kind'], scope: string, port: string): string {
  return `${kind} ${scope} ${port}`;
}

/** Bytes of a port, and those of a second since the last reading. */
function speedOf({ device, name }: RdmaPort, now: CounterReading, last: CounterReading | undefined): Partial<HostPort> {
  const key = keyOf('rdma', device, name);
  const bytes = now.counters.get(key);
  if (bytes === undefined) return {};
  const seconds = (now.takenMs - (last?.takenMs ?? now.takenMs)) / 1000;
  if (last === undefined || seconds <= 0 || !last.counters.has(key)) return bytes;
  const { sent, received } = grown(last.counters, now.counters, key);
  return { ...bytes, sentPerSecond: Math.round(sent / seconds), receivedPerSecond: Math.round(received / seconds) };
}

/** A counter that was reset has not grown. */
function grown(before: Sums, after: Sums, key: string): { readonly sent: number; readonly received: number } {
  const [old, now] = [before.get(key), after.get(key)];
  if (old === undefined || now === undefined) return { sent: 0, received: 0 };
  return {
    sent: Math.max(0, now.sentBytes - old.sentBytes),
    received: Math.max(0, now.receivedBytes - old.receivedBytes),
  };
}
