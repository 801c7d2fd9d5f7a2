/** Judges the speed of the transfers of all agents of a host, by a sample every few seconds. Pure. */
import type { TimeBySize } from '../../ground/tally.js';
import { DirectionJudge, type FoundSlowness, type Slowdowns } from './direction-judge.js';
import { HostCurves } from './host-curves.js';
import type { KeptAgent, KeptUsual } from './kept-usual.js';
import type { Peer } from './load.js';
import { jsonBound } from './place-counts.js';
import { JUDGED_DIRECTIONS, type JudgedDirection, type SlowClass, type SlowFact } from './slow-facts.js';
import { UnevenWatch } from './uneven.js';
import type { Usual } from './usual-times.js';

/** Time after which a changed normal is usual. */
export const ACCEPT_MS = 24 * 60 * 60_000;

export interface JudgedAgent {
  /** Unique in this process. */
  readonly id: number;
  /** Name for people. */
  readonly name: string;
  /** Path of its ring. */
  readonly place: string;
  /** Agents with the same one do the same work; absent if its engine is not known. */
  readonly group?: string | undefined;
  readonly timeBySize?: TimeBySize | undefined;
}

type Judges = Record<JudgedDirection, DirectionJudge>;

interface JudgedPlace extends Judges {
  readonly place: string;
}

export class SlownessJudge {
  /** Time after which a changed normal is usual, for agents that are new from now on. */
  acceptMs = ACCEPT_MS;
  #curves: Readonly<Record<JudgedDirection, HostCurves>> = { transmit: new HostCurves(), receive: new HostCurves() };
  /** What an earlier process kept, by the path of the ring. */
  readonly #kept = new Map<string, KeptAgent>();
  #agents = new Map<number, JudgedPlace>();
  readonly #uneven = new UnevenWatch();
  #facts: readonly SlowFact[] = [];
  #lastMs: number | undefined;

  get facts(): readonly SlowFact[] {
    return this.#facts;
  }

  /** Number of agents that move and have nothing usual yet. */
  get unjudged(): number {
    let count = 0;
    for (const { transmit, receive } of this.#agents.values()) if (transmit.isUnjudged || receive.isUnjudged) count++;
    return count;
  }

  /** Returns what is usual for the agents that are judged, and was for earlier ones. */
  get usual(): KeptUsual {
    const agents = [...this.#agents.values()].map((judges) => this.#keptOf(judges));
    return { curves: { transmit: this.#curves.transmit.all, receive: this.#curves.receive.all }, agents };
  }

  #keptOf({ place, transmit, receive }: JudgedPlace): KeptAgent {
    const unevenSince = this.#uneven.sinceOf(place);
    return {
      place,
      ...(transmit.isKept && { transmit: transmit.usual }),
      ...(receive.isKept && { receive: receive.usual }),
      ...(unevenSince && { unevenSince }),
    };
  }

  /** Takes what an earlier process kept, for all agents that have nothing usual yet. */
  restore({ curves, agents }: KeptUsual): void {
    this.#curves = { transmit: new HostCurves(curves.transmit), receive: new HostCurves(curves.receive) };
    for (const agent of agents) this.#kept.set(agent.place, agent);
    for (const judges of this.#agents.values()) this.#restore(judges);
  }

  #restore(judges: JudgedPlace): void {
    const kept = this.#kept.get(judges.place);
    for (const direction of JUDGED_DIRECTIONS)
      if (kept?.[direction] !== undefined) judges[direction].restore(kept[direction]);
    if (kept?.unevenSince !== undefined) this.#uneven.restore(kept.place, kept.unevenSince);
  }

  /** Takes the present times of these agents as usual, in the directions in which something is found. */
  accept(ids: Iterable<number>): void {
    const accepted = new Set<number | string>(ids);
    for (const { kind, id, direction } of this.#facts) {
      const judges = accepted.has(id) ? this.#agents.get(Number(id)) : undefined;
      if (judges === undefined) continue;
      if (kind === 'uneven') this.#uneven.accept(judges.place, direction);
      else judges[direction].accept();
    }
    this.#facts = this.#facts.filter(({ id }) => !accepted.has(id));
  }

  /** Returns what the last 20 seconds or transfers tell; undefined for an unknown agent. */
  slowdownsOf(id: number): Readonly<Record<JudgedDirection, Slowdowns>> | undefined {
    const judges = this.#agents.get(id);
    return judges && { transmit: judges.transmit.slowdowns, receive: judges.receive.slowdowns };
  }

  /** Returns what is usual for an agent, in each direction; undefined for an unknown one. */
  usualOf(id: number): Readonly<Record<JudgedDirection, Usual>> | undefined {
    const judges = this.#agents.get(id);
    return judges && { transmit: judges.transmit.usual, receive: judges.receive.usual };
  }

  /** Takes a sample of all agents. Agents that are missing in it are forgotten. */
  take(takenMs: number, agents: readonly JudgedAgent[]): void {
    // The clock was set back: spans of time would be wrong.
    if (this.#lastMs !== undefined && takenMs < this.#lastMs) this.#beginAgain(takenMs);
    const isFirst = this.#lastMs === undefined;
    const lastMs = this.#lastMs ?? takenMs;
    this.#lastMs = takenMs;
    const before = this.#agents;
    this.#agents = new Map();
    const moved = new Set<DirectionJudge>();
    for (const { id, place, timeBySize } of agents) {
      const judges = before.get(id) ?? this.#judges(place, { takenMs, lastMs, isNew: !isFirst });
      this.#agents.set(id, judges);
      if (timeBySize === undefined) continue;
      for (const direction of JUDGED_DIRECTIONS) {
        if (judges[direction].take(takenMs, timeBySize[direction])) moved.add(judges[direction]);
      }
    }
    // A ring that comes back goes on with what its agent knew last.
    for (const [id, judges] of before) {
      if (!this.#agents.has(id) && this.#kept.has(judges.place)) this.#kept.set(judges.place, this.#keptOf(judges));
    }
    for (const direction of JUDGED_DIRECTIONS) this.#judge(direction, agents, moved);
    this.#facts = [...agents.flatMap((agent) => this.#factsOf(agent)), ...this.#unevenFacts(takenMs, agents)];
  }

  #unevenFacts(takenMs: number, agents: readonly JudgedAgent[]): SlowFact[] {
    const usual = agents.map(({ id, name, place, group }) => {
      const { transmit, receive } = this.#agents.get(id)!;
      const accepted = JUDGED_DIRECTIONS.filter((direction) => ({ transmit, receive })[direction].isAccepted);
      return { id, name, place, group, accepted, transmit: transmit.usual, receive: receive.usual };
    });
    return this.#uneven.take(takenMs, this.acceptMs, usual);
  }

  /** Keeps what is usual. */
  #beginAgain(takenMs: number): void {
    this.#lastMs = takenMs;
    for (const judges of this.#agents.values())
      for (const direction of JUDGED_DIRECTIONS) judges[direction].beginAgain(takenMs);
  }

  #judges(place: string, begin: { takenMs: number; lastMs: number; isNew: boolean }): JudgedPlace {
    const judge = (): DirectionJudge => new DirectionJudge({ ...begin, acceptMs: this.acceptMs });
    const judges = { place, transmit: judge(), receive: judge() };
    this.#restore(judges);
    return judges;
  }

  #judge(direction: JudgedDirection, agents: readonly JudgedAgent[], moved: ReadonlySet<DirectionJudge>): void {
    const { all } = this.#curves[direction];
    const judged = agents.flatMap(({ id, name }) => {
      const judge = this.#agents.get(id)![direction];
      return moved.has(judge) ? [{ name, judge }] : [];
    });
    let peers: readonly { readonly of: DirectionJudge; readonly peer: Peer | undefined }[] | undefined;
    const peersOf = (judge: DirectionJudge): Peer[] => {
      // Asks all agents once: where all are slow, each needs the others.
      peers ??= [...this.#agents.values()].map(({ [direction]: of }) => ({ of, peer: of.peer() }));
      return peers.flatMap(({ of, peer }) => (of === judge || peer === undefined ? [] : [peer]));
    };
    for (const { judge } of judged) judge.judge(() => peersOf(judge), all);
    for (const { name, judge } of judged) {
      if (judge.learn()) this.#curves[direction].keep({ agent: name, usual: judge.usual });
    }
  }

  #factsOf({ id, name }: JudgedAgent): SlowFact[] {
    const judges = this.#agents.get(id)!;
    return JUDGED_DIRECTIONS.flatMap((direction) => {
      const { found } = judges[direction];
      if (found.length === 0) return [];
      const other = judges[direction === 'transmit' ? 'receive' : 'transmit'];
      const oneDirection = other.peer() !== undefined && other.found.length === 0;
      return found.map((one) => ({ id, name, direction, ...factOf(one), ...(oneDirection && { oneDirection }) }));
    });
  }
}

function factOf({ judged, sinceMs, saidMs, againstOthers }: FoundSlowness) {
  const { kind, factor, compared, ambiguous } = judged;
  const slow = new Set(judged.classes.map(({ now }) => now.upToBytes));
  const classes = compared.map(({ now, usual, usualPost }): SlowClass => ({
    upToBytes: jsonBound(now.upToBytes),
    meanBytes: Math.round(now.meanBytes),
    timeUs: now.p50,
    usualUs: Math.round(usual.p50),
    ...(now.post && { postUs: now.post.p50, usualPostUs: Math.round(usualPost) }),
    slow: slow.has(now.upToBytes),
  }));
  return {
    kind,
    sinceMs,
    saidMs,
    factor,
    classes,
    ...(ambiguous && { ambiguous }),
    ...(againstOthers && { againstOthers }),
  };
}
