/** Runs a world in virtual time. */
import { Agenda } from './agenda.js';
import { Agent } from './agent.js';
import { Faults } from './faults.js';
import { Link } from './link.js';
import { Random, seedOf } from './random.js';
import type { AgentRow, Fault, SeenTransfer, World } from './shapes.js';
import { EngineLoop } from './step-loop.js';

/** Least upper bound of all `load` functions and of faults of the volume. */
const MOST_LOAD = 3;

export class RunningWorld {
  readonly #agenda = new Agenda();
  readonly #agents = new Map<string, Agent>();
  readonly #seed: number;
  #seen: SeenTransfer[] = [];

  constructor(world: World, faults: readonly Fault[], seed: number, seconds: number) {
    this.#seed = seed;
    const links = new Map<string, Link>();
    const loops = new Map<string, EngineLoop>();
    for (const row of world) {
      const own = new Faults(faults, row.name);
      const link = this.#link(links, row, own, seconds);
      const loop = this.#loop(loops, row);
      const random = new Random(seedOf(seed, row.name));
      const take = (transfer: SeenTransfer): void => void this.#seen.push(transfer);
      const agent = new Agent({ row, faults: own, random, agenda: this.#agenda, link, loop, take });
      this.#agents.set(row.name, agent);
    }
    for (const agent of this.#agents.values()) this.#begin(agent);
  }

  /** Returns the transfers that were seen since the last call, in the order of their times. */
  advance(untilMs: number): readonly SeenTransfer[] {
    this.#agenda.runUntil(untilMs * 1000);
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  #link(links: Map<string, Link>, row: AgentRow, faults: Faults, seconds: number): Link {
    const name = row.link ?? row.name;
    const link = links.get(name) ?? new Link(this.#agenda, (atUs) => row.bytesPerUs / faults.factor('link', atUs));
    if (!links.has(name))
      for (const atUs of faults.linkChangesUs(seconds)) this.#agenda.add(atUs, (nowUs) => link.changeRate(nowUs));
    links.set(name, link);
    return link;
  }

  #loop(loops: Map<string, EngineLoop>, { name: agent, loop: shape }: AgentRow): EngineLoop | undefined {
    if (shape === undefined) return undefined;
    const name = shape.shared ?? agent;
    const loop =
      loops.get(name) ?? new EngineLoop(this.#agenda, new Random(seedOf(this.#seed, `loop of ${name}`)), shape);
    loops.set(name, loop);
    return loop;
  }

  #begin(agent: Agent): void {
    const { fromS = 0, endsS, asking } = agent.row;
    if (endsS !== undefined) this.#agenda.add(endsS * 1e6, () => agent.end());
    // Its own numbers: those of another agent that asks for the same do not depend on how this one's transfers went.
    const random = new Random(seedOf(this.#seed, `asking of ${agent.row.name}`));
    const beginUs = fromS * 1e6;
    if (asking.kind === 'poisson') this.#askAtRandom(agent, random, beginUs);
    if (asking.kind === 'burst')
      this.#agenda.add(beginUs + random.uniform() * asking.everyS * 1e6, (atUs) => this.#askBurst(agent, random, atUs));
    if (asking.kind === 'closed') this.#agenda.add(beginUs, (atUs) => this.#keepOpen(agent, random, atUs));
  }

  /** Asks as this agent, and as those that ask for the same. */
  #ask(agent: Agent, random: Random, atUs: number): void {
    const { row } = agent;
    const bytes = row.size(random, atUs / 1e6, row.i);
    agent.ask(atUs, bytes);
    for (const other of this.#agents.values()) {
      const { asking } = other.row;
      if (asking.kind === 'same' && asking.as === row.name) other.ask(atUs, bytes);
    }
  }

  #askAtRandom(agent: Agent, random: Random, fromUs: number): void {
    const { asking } = agent.row;
    if (asking.kind !== 'poisson' || agent.hasEnded) return;
    const { perSecond, load } = asking;
    this.#agenda.add(fromUs + (random.gap() / (perSecond * MOST_LOAD)) * 1e6, (atUs) => {
      const wanted = (load?.(atUs / 1e6) ?? 1) * agent.faults.factor('volume', atUs);
      if (random.uniform() * MOST_LOAD < wanted) this.#ask(agent, random, atUs);
      this.#askAtRandom(agent, random, atUs);
    });
  }

  #askBurst(agent: Agent, random: Random, atUs: number): void {
    const { asking } = agent.row;
    if (asking.kind !== 'burst' || agent.hasEnded) return;
    for (let left = asking.count(atUs / 1e6); left > 0; left--) this.#ask(agent, random, atUs);
    this.#agenda.add(atUs + asking.everyS * 1e6, (nextUs) => this.#askBurst(agent, random, nextUs));
  }

  /** Opens as many transfers as the program keeps open, each second anew, since their number may change. */
  #keepOpen(agent: Agent, random: Random, atUs: number): void {
    const { asking, size, i } = agent.row;
    if (asking.kind !== 'closed' || agent.hasEnded) return;
    const { open, thinkS } = asking;
    let chains = 0;
    const follow = (nowUs: number): void => {
      if (chains > open(nowUs / 1e6)) return void chains--;
      agent.ask(nowUs, size(random, nowUs / 1e6, i), (seenUs) =>
        this.#agenda.add(seenUs + thinkS * random.gap() * 1e6, follow),
      );
    };
    const fill = (nowUs: number): void => {
      for (; chains < open(nowUs / 1e6); chains++) this.#agenda.add(nowUs + thinkS * random.uniform() * 1e6, follow);
      if (!agent.hasEnded) this.#agenda.add(nowUs + 1e6, fill);
    };
    fill(atUs);
  }
}
