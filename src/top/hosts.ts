/** The agents of several hosts, which are asked at the same time. */
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../ground/errors.js';
import { ExitCode, Failure } from '../process/failure.js';
import { joinedIncidents, noIncidents, type TopIncidents } from './incidents.js';
import type { Past } from './points.js';
import type { AgentModel } from '../view/model/agent-model.js';
import { withIds } from '../view/slowness/slow-facts.js';
import { noSizes, type TopSizes } from './sizes.js';
import type { SampleSource, FleetView } from './tracker.js';

/** A host that needs longer than this contributes its former numbers. */
const PATIENCE_MS = 1_000;

interface Host {
  /** Host and port of its address. */
  readonly name: string;
  readonly source: SampleSource;
  /** Unfinished request. */
  asking?: Promise<void> | undefined;
  view?: FleetView;
  /** The last request's failure, and the begin of a time with failures only. */
  failure?: { readonly error: unknown; readonly sinceMs: number } | undefined;
}

/** The agents of several hosts, each with the name of its host. Each host has its own clock, and so its own rates. */
export class Hosts implements SampleSource {
  readonly name: string;
  readonly #hosts: readonly Host[];

  constructor(hosts: readonly Pick<Host, 'name' | 'source'>[]) {
    this.#hosts = hosts.map((host) => ({ ...host }));
    this.name = hosts.map(({ source }) => source.name).join(', ');
  }

  /** A host that does not answer has a note and its former numbers. @throws Failure if none has ever answered */
  async view(): Promise<FleetView> {
    const all = Promise.all(this.#hosts.map((host) => (host.asking ??= ask(host))));
    const isFirst = this.#hosts.every(({ view }) => view === undefined);
    const waiting = new AbortController();
    const patience = pause(PATIENCE_MS, undefined, { signal: waiting.signal }).catch(() => {});
    await (isFirst ? all : Promise.race([all, patience]));
    waiting.abort();
    const answered = this.#hosts.filter(({ view }) => view !== undefined);
    if (answered.length === 0) throw this.#hosts[0]!.failure?.error;
    const views = this.#hosts.map(viewOf);
    const seconds = views.flatMap((view) => view.seconds ?? []);
    return {
      takenMs: Date.now(),
      seconds: seconds.length === 0 ? undefined : Math.max(...seconds),
      rows: views.flatMap(({ rows }) => rows),
      notes: views.flatMap(({ notes }) => notes),
      parts: views.flatMap(({ parts }) => parts),
    };
  }

  async details(id: string): Promise<AgentModel | undefined> {
    const host = this.#hostOf(id);
    return host?.source.details(id.slice(host.name.length + 1));
  }

  /** A host that does not answer has the reason among those that are missing. */
  async sizes(id?: string): Promise<TopSizes> {
    const host = id === undefined ? undefined : this.#hostOf(id);
    const hosts = host === undefined ? this.#hosts : [host];
    const found = await Promise.all(hosts.map((one) => sizesOf(one, id?.slice(one.name.length + 1))));
    return {
      recentMs: Math.max(0, ...found.map(({ recentMs }) => recentMs)),
      agents: new Map(found.flatMap(({ agents }) => [...agents])),
      missing: found.flatMap(({ missing }) => missing),
    };
  }

  async incidents(): Promise<TopIncidents> {
    return joinedIncidents(await Promise.all(this.#hosts.map(incidentsOf)));
  }

  doctorArguments(id?: string): readonly (readonly string[])[] {
    const host = id === undefined ? undefined : this.#hostOf(id);
    const hosts = host === undefined ? this.#hosts : [host];
    return hosts.flatMap(({ source }) => source.doctorArguments());
  }

  /** Returns what each host that answers has recorded, by the clock of this machine. */
  async pasts(): Promise<readonly Past[]> {
    const found = await Promise.allSettled(this.#hosts.map(pastsOf));
    return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  }

  noAgents(): Error {
    return new Failure(`no agents at ${this.name}`, ExitCode.NO_RINGS);
  }

  close(): void {
    for (const { source } of this.#hosts) source.close();
  }

  #hostOf(id: string): Host | undefined {
    return this.#hosts.find(({ name }) => id.startsWith(`${name} `));
  }
}

async function pastsOf({ name, source }: Host): Promise<Past[]> {
  const pasts = await source.pasts();
  return pasts.map((past) => {
    const laterMs = Date.now() - past.takenMs;
    const moved = <Span extends { readonly fromMs: number; readonly toMs: number }>(spans: readonly Span[]): Span[] =>
      spans.map((span) => ({ ...span, fromMs: span.fromMs + laterMs, toMs: span.toMs + laterMs }));
    const agents = new Map([...past.agents].map(([id, points]) => [`${name} ${id}`, moved(points)]));
    const [fleet, transferTimes] = [moved(past.fleet), moved(past.transferTimes)];
    return { takenMs: past.takenMs + laterMs, fleet, transferTimes, agents };
  });
}

async function sizesOf({ name, source }: Host, id: string | undefined): Promise<TopSizes> {
  try {
    const { agents, ...rest } = await source.sizes(id);
    return { ...rest, agents: new Map([...agents].map(([own, sizes]) => [`${name} ${own}`, sizes])) };
  } catch (error) {
    return noSizes(`no time by size from ${name}: ${reasonOf(error)}`);
  }
}

async function incidentsOf({ name, source }: Host): Promise<TopIncidents> {
  try {
    const { listed, missing } = await source.incidents();
    return { listed: listed.map((one) => ({ ...one, host: name })), missing };
  } catch (error) {
    return noIncidents(`no incidents from ${name}: ${reasonOf(error)}`);
  }
}

async function ask(host: Host): Promise<void> {
  try {
    host.view = await host.source.view();
    host.failure = undefined;
  } catch (error) {
    host.failure = { error, sinceMs: host.failure?.sinceMs ?? Date.now() };
  } finally {
    host.asking = undefined;
  }
}

/** The view of one host, its rows with the host's name. */
function viewOf({ name, source, view, failure }: Host): FleetView {
  if (view === undefined) {
    const reason = failure === undefined ? `no answer from ${name} yet` : reasonOf(failure.error);
    const forMs = failure === undefined ? 0 : Date.now() - failure.sinceMs;
    const stale = { forMs, reason: reason.replace(`no metrics from ${source.name}: `, ''), answered: false } as const;
    const facts = { origin: { kind: 'serve', name, directories: [] }, stale } as const;
    return { takenMs: Date.now(), seconds: undefined, rows: [], notes: [reason], parts: [{ host: name, facts }] };
  }
  const idOf = (id: number | string): string => `${name} ${id}`;
  const rows = view.rows.map((row) => ({ ...row, agent: { ...row.agent, id: idOf(row.agent.id), host: name } }));
  const withId = <Of extends { readonly id: number | string }>(one: Of): Of => ({ ...one, id: idOf(one.id) });
  const parts = view.parts.map(({ facts: { ended, slowness = [], ...facts } }) => {
    const found = { ...facts, slowness: slowness.map((fact) => withIds(fact, idOf)) };
    return { host: name, facts: ended === undefined ? found : { ...found, ended: ended.map(withId) } };
  });
  return { ...view, rows, parts };
}
