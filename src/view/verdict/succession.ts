/** Finds the agents that came in the place of ended ones, and how many lives of a place have ended. Pure. */
import type { AgentId, AgentModel } from '../model/agent-model.js';
import type { EndedAgent } from './types.js';

/**
 * A successor that comes within this time ends the worry about an end: the restart of a container takes seconds, and that of an
 * engine that loads its model from the page cache two minutes. In a rolling update the new one comes this long before.
 */
export const SUCCESSOR_MS = 3 * 60_000;
/** Ends of one place within this time are counted together: supervisors wait up to five minutes between two restarts. */
export const LIVES_MS = 10 * 60_000;

/** A life that ends sooner is one of a loop. Agents of a test or a batch are renewed after minutes, and that is no loop. */
const SHORT_LIFE_MS = 2 * 60_000;

const MOST_COUNTED = 100;
/** Places whose first agent is remembered. */
const MOST_PLACES = 1000;

/** An end that waits for a successor. */
export interface OpenEnd {
  readonly name: string;
  readonly endedMs: number;
  readonly firstSeenMs: number;
  readonly place: string;
  /** Times at which short lives of this place ended in the last ten minutes, up to this end. */
  readonly ends: readonly number[];
  successor?: NonNullable<EndedAgent['successor']>;
}

interface Newcomer<Id> {
  readonly id: Id;
  readonly name: string;
  readonly place: string;
  readonly sinceMs: number;
}

export class Succession<Id extends AgentId> {
  #open: OpenEnd[] = [];
  /** Agents that came within the last minutes and have no predecessor yet. */
  #newcomers: Newcomer<Id>[] = [];
  /** When the first agent of a place came. */
  readonly #places = new Map<string, number>();
  /** The end before the life of an agent. */
  readonly #before = new Map<Id, OpenEnd>();

  /** Returns the times at which short lives of the agent's place ended lately, with the present one. */
  endsWith(id: Id, firstSeenMs: number, nowMs: number): readonly number[] {
    const before = this.#before.get(id);
    const recent = (before?.ends ?? []).filter((timeMs) => nowMs - timeMs < LIVES_MS);
    const isShort = nowMs - (before?.successor?.sinceMs ?? firstSeenMs) < SHORT_LIFE_MS;
    return (isShort ? [...recent, nowMs] : recent).slice(-MOST_COUNTED);
  }

  /** Takes an end. An agent that came shortly before, long after the ended one, is its successor. */
  ended(id: Id, end: OpenEnd): void {
    const before = this.#before.get(id);
    if (before?.successor !== undefined) before.successor = { ...before.successor, endedMs: end.endedMs };
    this.#before.delete(id);
    this.#newcomers = this.#newcomers.filter((newcomer) => newcomer.id !== id);
    const isOther = ({ sinceMs }: Newcomer<Id>): boolean => sinceMs - end.firstSeenMs > SUCCESSOR_MS;
    const newcomer = best(
      this.#newcomers.filter((one) => isOther(one) && this.#fits(end, one)),
      end,
    );
    if (newcomer === undefined) this.#open.push(end);
    else this.#join(end, newcomer);
  }

  /** Takes the place of an agent that came before the watch began. */
  wasThere(place: string): void {
    this.#places.set(place, -Infinity);
  }

  /** Takes an agent that is new, or lives again in its ring. */
  appeared(newcomer: Newcomer<Id>, isSame = false): void {
    const { name, place, sinceMs } = newcomer;
    if (!this.#places.has(place) && this.#places.size < MOST_PLACES) this.#places.set(place, sinceMs);
    const fitting = this.#open.filter((end) =>
      isSame ? end.name === name && end.place === place : this.#fits(end, newcomer),
    );
    const end = best(fitting, newcomer);
    if (end === undefined) this.#newcomers.push(newcomer);
    else this.#join(end, newcomer);
  }

  /** Forgets what is too old to be joined, and the places of agents that are gone. */
  forget(nowMs: number, keptMs: number, isPresent: (id: Id) => boolean): void {
    this.#open = this.#open.filter(({ endedMs }) => nowMs - endedMs < keptMs);
    this.#newcomers = this.#newcomers.filter(({ sinceMs }) => nowMs - sinceMs < SUCCESSOR_MS);
    for (const id of this.#before.keys()) if (!isPresent(id)) this.#before.delete(id);
  }

  /** An agent of a name like none before may come in the place of any of its directory: programs name their agents at will. */
  #fits(end: OpenEnd, { place }: Newcomer<Id>): boolean {
    if (end.place === place) return true;
    const isOfDirectory = directoryOf(end.place) === directoryOf(place);
    return isOfDirectory && (this.#places.get(place) ?? -Infinity) >= end.endedMs - SUCCESSOR_MS;
  }

  #join(end: OpenEnd, newcomer: Newcomer<Id>): void {
    end.successor = { name: newcomer.name, sinceMs: newcomer.sinceMs };
    this.#before.set(newcomer.id, end);
    this.#open = this.#open.filter((one) => one !== end);
    this.#newcomers = this.#newcomers.filter((one) => one !== newcomer);
  }
}

interface PlacedName {
  readonly name: string;
  readonly place: string;
}

/** Returns the one of the same name, or the first one of the same place, or the first one. */
function best<One extends PlacedName>(all: readonly One[], { name, place }: PlacedName): One | undefined {
  return all.find((one) => one.name === name) ?? all.find((one) => one.place === place) ?? all[0];
}

function directoryOf(place: string): string {
  return place.slice(0, place.lastIndexOf('/'));
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/**
 * Returns what agents of one place have in common: the directory, and the name without identifiers, process numbers and ranks. vLLM
 * and SGLang name each start anew.
 */
export function placeOfAgent({ directory = '', agent }: Pick<AgentModel, 'directory' | 'agent'>): string {
  return `${directory}/${agent.replaceAll(UUID, '#').replaceAll(/\d+/g, '#')}`;
}

/** Returns true for a name that has a UUID: its kind tells nothing of the role of the agent. */
export function isNamedAnew({ agent }: Pick<AgentModel, 'agent'>): boolean {
  return agent.search(UUID) !== -1;
}
