/** Decides by which way the bytes of each agent go, from windows of bytes of agents and of counters. Pure. */
import { type Portion, carriedBytes, partOf, sumOf } from './carried.js';
import { type CountedWay, type Way, type WayKind, type Ways, wayText } from './way.js';
import { type AgentInWindow, mayCarry, type MovedBytes, type WayWindow } from './way-window.js';

/** Two minutes: long enough for a pace to change, short enough for a change of the way. */
const MOST_WINDOWS = 24;
/** A way that has changed shows in these alone. */
const NEWEST_WINDOWS = 8;
/** Windows from one judgement to the next. */
const EVERY = 3;
const LEAST_WINDOWS = 6;
const LEAST_MOVING = 4;
const LEAST_BYTES = 2 ** 20;
/** Part of a split way that counts. */
const LEAST_PART = 0.1;
/** Ways of so many agents are kept, the newest ones. */
const MOST_AGENTS = 4096;

type Direction = keyof MovedBytes;
type Seen = Omit<Way, 'sinceMs' | 'before'>;

const DIRECTIONS = [
  ['tx', 'sent'],
  ['rx', 'received'],
] as const;

/** Counters of one kind that share agents. */
interface Group {
  readonly kind: CountedWay;
  readonly agents: readonly number[];
  readonly counters: readonly string[];
}

interface PortionOfGroup {
  readonly carried: Portion | 'part';
  readonly ports: readonly string[];
  readonly ratio: number;
  /** Other agents that move, and ports with bytes: for the reason of an unknown way. */
  readonly besides: number;
}

export class WayJudge {
  #windows: WayWindow[] = [];
  #taken = 0;
  readonly #ways = new Map<number, Ways>();

  /** Returns the last known way, also after the agent has stopped. */
  of(id: number): Ways {
    return this.#ways.get(id) ?? {};
  }

  take(window: WayWindow): void {
    this.#windows = [...this.#windows, window].slice(-MOST_WINDOWS);
    if (++this.#taken % EVERY !== 0) return;
    const since = this.#windows.slice(-EVERY).flatMap(({ agents }) => agents);
    for (const [name, direction] of DIRECTIONS) {
      const moved = new Set(since.flatMap((agent) => (agent[direction] > 0 ? [agent.id] : [])));
      if (moved.size === 0) continue;
      const newest = new Judgement(this.#windows.slice(-NEWEST_WINDOWS), direction);
      let all: Judgement | undefined;
      for (const agent of window.agents) {
        if (!moved.has(agent.id)) continue;
        const late = newest.of(agent);
        const seen = late.kind === 'unknown' ? (all ??= new Judgement(this.#windows, direction)).of(agent) : late;
        this.#tell(agent.id, name, seen, window.takenMs);
      }
    }
    for (const id of this.#ways.keys()) {
      if (this.#ways.size <= MOST_AGENTS) break;
      this.#ways.delete(id);
    }
  }

  #tell(id: number, name: keyof Ways, seen: Seen, takenMs: number): void {
    const ways = this.#ways.get(id) ?? {};
    const last = ways[name];
    const isSame = last !== undefined && last.kind === seen.kind && last.ports.join() === seen.ports.join();
    const known = last && (wayText(last) ?? last.before);
    const before = isSame ? last.before : known === wayText({ ...seen, sinceMs: 0 }) ? undefined : known;
    const sinceMs = isSame ? last.sinceMs : takenMs;
    this.#ways.set(id, { ...ways, [name]: { ...seen, sinceMs, ...(before === undefined ? {} : { before }) } });
  }
}

/** The answer about each agent of one direction, from the same windows. */
class Judgement {
  readonly #windows: readonly WayWindow[];
  readonly #moved = new Map<number, number[]>();
  readonly #counted = new Map<string, { readonly counter: WayWindow['counters'][number]; readonly bytes: number[] }>();
  #answers: Map<number, Partial<Record<CountedWay, PortionOfGroup>>> | undefined;

  constructor(windows: readonly WayWindow[], direction: Direction) {
    this.#windows = windows;
    windows.forEach(({ agents, counters }, i) => {
      for (const agent of agents) this.#rowOf(agent.id)[i] = agent[direction];
      for (const counter of counters) {
        const key = `${counter.kind} ${counter.scope} ${counter.port}`;
        const row = this.#counted.get(key) ?? { counter, bytes: zeros(windows.length) };
        row.bytes[i] = counter[direction];
        this.#counted.set(key, row);
      }
    });
  }

  of(agent: AgentInWindow): Seen {
    const moved = this.#rowOf(agent.id);
    const windows = moved.filter((bytes) => bytes > 0).length;
    const unknown = (why: string): Seen => ({ kind: 'unknown', ports: [], windows, sure: 'unknown', why });
    if (agent.network === undefined) return unknown('its process is not visible');
    if (this.#windows.length < LEAST_WINDOWS || windows < LEAST_MOVING)
      return unknown('it has moved bytes for too short a time');
    if (sumOf(moved) < LEAST_BYTES) return unknown('it moves too few bytes to find them among others');
    this.#answers ??= this.#answerAll();
    const answers = Object.entries(this.#answers.get(agent.id) ?? {}) as [CountedWay, PortionOfGroup][];
    const carries = answers.filter(([, { carried }]) => carried === 'certain' || carried === 'likely');
    // Files of a network pass both. Otherwise the same bytes cannot go by two ways.
    if (carries.length > 1 && carries.every(([kind]) => kind !== 'storage')) {
      return unknown('its way changes, or two ports gain as many bytes as it moves');
    }
    const parts = answers.filter(([, { carried }]) => carried === 'part');
    const by = carries.length > 0 ? carries : parts;
    if (by.length > 0) {
      const kind: WayKind = carries.length === 1 ? carries[0]![0] : 'mixed';
      const sure = by.every(([, { carried }]) => carried !== 'likely') ? 'certain' : 'likely';
      const bytesPerByte = by.reduce((sum, [, { ratio }]) => sum + ratio, 0);
      const ports = by.flatMap(([, answer]) => answer.ports);
      const soft = this.#unseenDevicesOf(agent).find(
        ({ interface: name }) => name !== undefined && ports.includes(name),
      );
      if (soft !== undefined)
        return unknown(`${soft.interface!} carries its bytes, as TCP or for the RDMA device ${soft.device}`);
      return { kind, ports, bytesPerByte, windows, sure };
    }
    const open = answers.filter(([, { carried }]) => carried === 'undecided');
    if (open.length > 0) return unknown(undecidedText(open));
    return this.#unseenOf(agent, unknown) ?? { kind: 'neither', ports: [], windows, sure: 'certain' };
  }

  /** Returns `unknown` if devices or files that could carry the bytes are not visible. */
  #unseenOf(agent: AgentInWindow, unknown: (why: string) => Seen): Seen | undefined {
    const { devices, filesUnseen } = agent;
    const [hidden] = this.#unseenDevicesOf(agent);
    if (hidden !== undefined) return unknown(`the RDMA device ${hidden.device} shows no counters here`);
    if (devices === undefined) return unknown('what its process holds open is not visible');
    if (filesUnseen === true) return unknown('bytes of its files are not visible');
    return undefined;
  }

  #unseenDevicesOf({ devices }: AgentInWindow): WayWindow['unseenDevices'] {
    const { unseenDevices } = this.#windows.at(-1)!;
    return unseenDevices.filter(({ device }) => devices === undefined || devices.includes(device));
  }

  #rowOf(id: number): number[] {
    const row = this.#moved.get(id) ?? zeros(this.#windows.length);
    this.#moved.set(id, row);
    return row;
  }

  #answerAll(): Map<number, Partial<Record<CountedWay, PortionOfGroup>>> {
    const answers = new Map<number, Partial<Record<CountedWay, PortionOfGroup>>>();
    for (const group of this.#groups()) {
      for (const [id, answer] of this.#answersOf(group)) answers.set(id, { ...answers.get(id), [group.kind]: answer });
    }
    return answers;
  }

  #groups(): Group[] {
    const latest = new Map(this.#windows.flatMap(({ agents }) => agents.map((agent) => [agent.id, agent] as const)));
    const moving = [...latest.values()].filter(({ id }) => sumOf(this.#rowOf(id)) >= LEAST_BYTES);
    const groups: { kind: CountedWay; agents: Set<number>; counters: Set<string> }[] = [];
    for (const [key, { counter }] of this.#counted) {
      const carried = moving.filter((agent) => mayCarry(counter, agent)).map(({ id }) => id);
      if (carried.length === 0) continue;
      const shares = groups.filter(({ kind, agents }) => kind === counter.kind && carried.some((id) => agents.has(id)));
      const group = shares[0] ?? { kind: counter.kind, agents: new Set<number>(), counters: new Set<string>() };
      if (shares.length === 0) groups.push(group);
      for (const id of carried) group.agents.add(id);
      group.counters.add(key);
      for (const other of shares.slice(1)) {
        for (const id of other.agents) group.agents.add(id);
        for (const one of other.counters) group.counters.add(one);
        groups.splice(groups.indexOf(other), 1);
      }
    }
    return groups.map(({ kind, agents, counters }) => ({ kind, agents: [...agents], counters: [...counters] }));
  }

  #answersOf({ agents, counters }: Group): [id: number, answer: PortionOfGroup][] {
    const moved = agents.map((id) => this.#rowOf(id));
    const rows = counters.map((key) => this.#counted.get(key)!).filter(({ bytes }) => sumOf(bytes) > 0);
    const singles = rows.map(({ counter, bytes }) => ({ ports: [counter.port], bytes }));
    const sum = zeros(this.#windows.length).map((_, i) => rows.reduce((all, { bytes }) => all + bytes[i]!, 0));
    const most = sumOf(sum) / 20;
    const busy = rows.filter(({ bytes }) => sumOf(bytes) >= most).map(({ counter }) => counter.port);
    const tried = rows.length > 1 ? [...singles, { ports: busy, bytes: sum }] : singles;
    const results = tried.map(({ ports, bytes }) => ({ ports, ...carriedBytes(bytes, moved) }));
    return agents.map((id, i) => {
      const best = ['certain', 'likely', 'undecided'].flatMap((word) =>
        results.filter((result) => result.agents[i] === word),
      )[0];
      const besides = agents.length - 1;
      if (best === undefined) return [id, { carried: 'not', ports: [], ratio: 0, besides }];
      const carried = best.agents[i]!;
      if (carried === 'undecided' && besides === 0) {
        const part = splitOf(singles, moved[i]!);
        if (part !== undefined) return [id, { ...part, besides }];
      }
      return [id, { carried, ports: best.ports, ratio: best.ratio, besides }];
    });
  }
}

/** Returns the ports that carry a part of a lone agent's bytes, if its pace shows it. */
function splitOf(
  counters: readonly { readonly ports: readonly string[]; readonly bytes: readonly number[] }[],
  moved: readonly number[],
): Pick<PortionOfGroup, 'carried' | 'ports' | 'ratio'> | undefined {
  const parts = counters
    .map(({ ports, bytes }) => ({ ports, bytes, ...partOf(bytes, moved) }))
    .filter(({ bytes, part, width }) => width < LEAST_PART && part >= LEAST_PART && isEqualInHalves(bytes, moved));
  if (parts.length === 0) return undefined;
  return { carried: 'part', ports: parts.flatMap(({ ports }) => ports), ratio: sumOf(parts.map(({ part }) => part)) };
}

/** A way that changes is no split one. */
function isEqualInHalves(counter: readonly number[], moved: readonly number[]): boolean {
  const half = Math.floor(moved.length / 2);
  const [earlier, later] = [
    partOf(counter.slice(0, half), moved.slice(0, half)),
    partOf(counter.slice(-half), moved.slice(-half)),
  ];
  return Math.abs(earlier.part - later.part) < 2 * LEAST_PART;
}

function undecidedText(open: readonly (readonly [CountedWay, PortionOfGroup])[]): string {
  const ports = open.flatMap(([, answer]) => answer.ports);
  const others = Math.max(...open.map(([, { besides }]) => besides));
  const place = [...new Set(ports)].slice(0, 2).join(' and ');
  return others === 0
    ? `other traffic of ${place} cannot be told from its own`
    : `other traffic of ${place}, or agents that move at the same pace, cannot be told from its own`;
}

function zeros(count: number): number[] {
  return new Array<number>(count).fill(0);
}
