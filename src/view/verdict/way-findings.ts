/** Notes about the way of agents' bytes: TCP beside active RDMA ports, ranks on one port, a slow or a far port. Pure. */
import { momentText } from '../../ground/figures/clock.js';
import { listed, numberText, plural } from '../../ground/figures/figure.js';
import { agentsNamed } from './past-trouble.js';
import type { AgentModel } from '../model/agent-model.js';
import { type HostPort, type Way, wayText } from '../../way/way.js';
import type { Finding, VerdictInput } from './types.js';

const NOTE = { kind: 'way', tone: 'info', shape: 'ring' } as const;
/** The interface of a host for itself: no card would carry these bytes. */
const LOOPBACK = 'lo';
/** A port below this part of another one's bytes is idle. */
const IDLE = 0.01;
/** A port below this part of another one's rate is slow. */
const SLOW = 0.6;

interface Going {
  readonly agent: AgentModel;
  readonly direction: 'tx' | 'rx';
  readonly way: Way;
}

export function wayFindings({ agents, ports = [], takenMs }: VerdictInput): Finding[] {
  const going = agents.flatMap((agent): Going[] => {
    if (agent.life === 'dead') return [];
    return (['tx', 'rx'] as const).flatMap((direction) => {
      const way = agent.way?.[direction];
      return way === undefined ? [] : [{ agent, direction, way }];
    });
  });
  const active = ports.filter(({ isActive }) => isActive === true);
  return [
    ...tcpFindings(going, active, takenMs),
    ...onePortFindings(going, active),
    ...slowPortFindings(going, active),
    ...farPortFindings(going, ports),
  ];
}

/** UCX takes TCP without a word if it may not use the card, or not with this memory. */
function tcpFindings(going: readonly Going[], active: readonly HostPort[], takenMs: number): Finding[] {
  const byTcp = going.filter(({ way: { kind, ports } }) => kind === 'tcp' && !ports.includes(LOOPBACK));
  if (byTcp.length === 0 || active.length === 0) return [];
  const sinceMs = Math.min(...byTcp.map(({ way }) => way.sinceMs));
  const before = [...new Set(byTcp.flatMap(({ way }) => way.before ?? []))];
  const was = before.length === 0 ? '' : `, before ${listed(before)}`;
  const up = listed(active.map(({ name }) => name));
  const sentence = `bytes go ${wayText(byTcp[0]!.way)!} since ${momentText(sinceMs, takenMs)}${was}, and RDMA ports are active: ${up}`;
  const advice =
    'If they should go by RDMA: UCX_TLS and UCX_NET_DEVICES of the process, or its limits of locked memory, keep UCX from it.';
  return [{ ...noteOf('By TCP', byTcp, sentence, advice), sinceMs }];
}

/** Several agents of one engine on one port, while ports of the same rate move next to nothing. */
function onePortFindings(going: readonly Going[], active: readonly HostPort[]): Finding[] {
  const groups = new Map<string, Going[]>();
  for (const one of going) {
    const { kind, ports } = one.way;
    if (kind !== 'rdma' || ports.length !== 1) continue;
    const { id, engine } = one.agent;
    // Ranks of an instance have its process in common.
    const key = `${ports[0]!} ${one.direction} ${engine?.instancePid ?? `agent ${id}`}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((together) => {
    const { direction, way } = together[0]!;
    const port = active.find(({ name }) => name === way.ports[0]);
    if (port === undefined || together.length < 2) return [];
    const moved = (one: HostPort): number =>
      (direction === 'tx' ? one.sentPerSecond : one.receivedPerSecond) ?? Infinity;
    const idle = active.filter((one) => one.gigabits === port.gigabits && moved(one) < IDLE * moved(port));
    if (idle.length === 0) return [];
    const others = `${plural(idle.length, 'other active port')} of its rate ${idle.length === 1 ? 'is' : 'are'} idle (${listed(idle.map(({ name }) => name))})`;
    const sentence = `all ${direction} by ${port.name}, and ${others}`;
    return noteOf('One port', together, sentence, 'UCX_NET_DEVICES of each process can name a port of its own.');
  });
}

function slowPortFindings(going: readonly Going[], active: readonly HostPort[]): Finding[] {
  return active.flatMap((port) => {
    const by = going.filter(({ way }) => isBy(way, port));
    const peers = active.filter(({ linkLayer }) => linkLayer === port.linkLayer);
    const most = Math.max(...peers.map(({ gigabits = 0 }) => gigabits));
    if (by.length === 0 || port.gigabits === undefined || port.gigabits >= SLOW * most) return [];
    const sentence = `bytes go by ${port.name}, which has ${numberText(port.gigabits)} Gb/s; others of this host have ${numberText(most)}`;
    return noteOf('Slow port', by, sentence, 'Check its cable and switch, or choose another one by UCX_NET_DEVICES.');
  });
}

/** A port on another NUMA node than the memory of the process. Two rails, one on each node, are usual. */
function farPortFindings(going: readonly Going[], ports: readonly HostPort[]): Finding[] {
  return ports.flatMap((port) => {
    const { name, numaNode } = port;
    const memoryOf = ({ agent }: Going): number => agent.way?.memoryNode ?? numaNode!;
    const far = going.filter((one) => isBy(one.way, port) && one.way.ports.length === 1 && memoryOf(one) !== numaNode);
    if (far.length === 0 || numaNode === undefined) return [];
    const nodes = listed([...new Set(far.map(memoryOf))].map(String));
    const sentence = `bytes go by ${name} of NUMA node ${numaNode}, and the host memory of these agents is on node ${nodes} alone`;
    return noteOf('Far port', far, sentence, 'UCX_NET_DEVICES can name a port of that node.');
  });
}

function isBy({ kind, ports }: Way, { name }: HostPort): boolean {
  return kind === 'rdma' && ports.includes(name);
}

function noteOf(word: string, going: readonly Going[], sentence: string, advice: string): Finding {
  const names = new Map(going.map(({ agent }) => [agent.id, agent.name]));
  return {
    ...NOTE,
    word,
    sentence: `${agentsNamed([...names.values()])}: ${sentence}`,
    advice,
    agents: [...names.keys()],
  };
}
