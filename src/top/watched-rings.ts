/** Samples from the rings of directories, found and observed by a timer. It drains nothing. */
import path from 'node:path';
import { type NixlTelemetryError, reasonOf } from '../ground/errors.js';
import { EngineTable } from '../engines/identify.js';
import { AgentIdentities } from '../instrumentation/agents/agent-identities.js';
import { UnseenLives } from '../instrumentation/feed/unseen-lives.js';
import { findWriters, requireRings } from '../shm-bridge/ring.js';
import { ExitCode, exitCodeOf, Failure, unavailability } from '../process/failure.js';
import { shortageIn } from '../view/rings/directory-space.js';
import { SizeWindow } from '../view/sizes/size-window.js';
import { type Complaint, filesBelow, isNotPermitted, statOf } from '../view/rings/ring-files.js';
import { noIncidents, type TopIncidents } from './incidents.js';
import type { Past } from './points.js';
import { RingTotals } from './ring-totals.js';
import type { AgentModel } from '../view/model/agent-model.js';
import type { TopAgent, TopSample } from './sampler.js';
import { sizesOfRings, type TopSizes } from './sizes.js';
import { type FleetView, type SampleSource, Tracker } from './tracker.js';

/** Half of the time in which the fastest agent fills a ring of 4096 events. */
const OBSERVE_INTERVAL_MS = 50;
const SEARCH_INTERVAL_MS = 500;
const WRITERS_INTERVAL_MS = 1_000;
/** Largest share of the time for searches. If many files or processes make them slow, searches become rare. */
const SHARE_OF_TIME = 0.05;

export class WatchedRings implements SampleSource {
  readonly name: string;
  readonly #directories: readonly string[];
  readonly #rings = new Map<string, RingTotals>();
  #problems = new Map<string, NixlTelemetryError>();
  #shortages: readonly { readonly path: string; readonly reason: string }[] = [];
  #complaints: readonly Complaint[] = [];
  readonly #unseenLives = new UnseenLives(() => performance.now());
  #nextSearchMs = 0;
  #nextWritersMs = 0;
  readonly #timer: NodeJS.Timeout;
  readonly #tracker = new Tracker();
  readonly #sizes = new SizeWindow();
  readonly #identities = new AgentIdentities({ table: new EngineTable() });
  #sizesMs = -Infinity;

  /** @throws NixlTelemetryError ADDON_MISSING, PLATFORM_UNSUPPORTED */
  constructor(directories: readonly string[]) {
    requireRings();
    this.#directories = directories;
    this.name = directories.join(', ');
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), OBSERVE_INTERVAL_MS);
  }

  view(): Promise<FleetView> {
    return Promise.resolve(this.#tracker.add(this.sample()));
  }

  sample(): TopSample {
    this.#tick();
    const nowMs = Date.now();
    const rings = [...this.#rings.values()];
    const agents = rings.map((ring): TopAgent => {
      const agent = ring.totals(nowMs);
      return { ...agent, engine: this.#identities.of({ ...agent, id: ring.number }) };
    });
    // The clock may be set back: the window goes on with the time that it has.
    this.#sizesMs = Math.max(this.#sizesMs, nowMs);
    this.#sizes.take(
      this.#sizesMs,
      rings.map(({ number, timeBySize }) => ({ id: number, timeBySize })),
    );
    const origin = { kind: 'rings', name: this.name, directories: this.#directories } as const;
    const problems = [...this.#problemsOf(rings), ...this.#unseen(agents)];
    const complaints = this.#complaints.map(({ text }) => text);
    const facts = { origin, problems, problemCount: problems.length, complaints };
    return { takenMs: nowMs, agents, notes: this.#notes(rings, agents), facts };
  }

  details(id: string): Promise<AgentModel | undefined> {
    return Promise.resolve([...this.#rings.values()].find((ring) => ring.id === id)?.details(Date.now()));
  }

  /** Rings have no history. */
  pasts(): Promise<readonly Past[]> {
    return Promise.resolve([]);
  }

  /** As of the last sample. */
  sizes(id?: string): Promise<TopSizes> {
    return Promise.resolve(sizesOfRings([...this.#rings.values()], this.#sizes, this.#sizesMs, id));
  }

  incidents(): Promise<TopIncidents> {
    return Promise.resolve(noIncidents('nixl-otel serve keeps incidents: give its address to --url.'));
  }

  /** About the process of an agent if it is known, otherwise about the directories. */
  doctorArguments(id?: string): readonly (readonly string[])[] {
    const pid = [...this.#rings.values()].find((ring) => ring.id === id)?.livePid;
    return [pid === undefined ? this.#directories.flatMap((one) => ['--dir', one]) : ['--pid', String(pid)]];
  }

  noAgents(): Error {
    const [problem] = this.#problems.values();
    const [complaint] = this.#complaints;
    const denied = this.#complaints.find(isNotPermitted);
    if (denied !== undefined) return new Failure(denied.text, ExitCode.DENIED);
    if (problem !== undefined) return new Failure(problem.message, exitCodeOf(problem.state));
    return new Failure(complaint?.text ?? `no rings in ${this.name}`, ExitCode.NO_RINGS);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const ring of this.#rings.values()) ring.close();
    this.#rings.clear();
  }

  /** Runs in a timer, where an exception would end the process. The next sample reports it instead. */
  #tick(): void {
    try {
      this.#search(performance.now());
      const nowMs = Date.now();
      for (const ring of this.#rings.values()) ring.observe(nowMs);
    } catch (error) {
      this.#complaints = [{ text: `the rings cannot be observed: ${reasonOf(error)}`, code: undefined }];
    }
  }

  #search(nowMs: number): void {
    if (nowMs < this.#nextSearchMs) return;
    const complaints = new Map<string, Complaint>();
    const problems = new Map<string, NixlTelemetryError>();
    const gone = new Set(this.#rings.keys());
    const complain = (complaint: Complaint): void => void complaints.set(complaint.text, complaint);
    for (const directory of this.#directories) {
      const place = this.#directories.length > 1 ? { place: directory } : {};
      for (const agent of filesBelow(directory, complain)) {
        const file = path.join(directory, agent);
        const inode = statOf(file, complain)?.ino;
        if (this.#rings.get(file)?.inode !== inode) this.#forget(file);
        if (inode === undefined) continue;
        gone.delete(file);
        try {
          if (!this.#rings.has(file)) this.#rings.set(file, new RingTotals(file, inode, { agent, ...place }));
        } catch (error) {
          problems.set(file, unavailability(error));
        }
      }
    }
    for (const file of gone) this.#forget(file);
    this.#problems = problems;
    this.#complaints = [...complaints.values()];
    this.#nextSearchMs = nowMs + Math.max(SEARCH_INTERVAL_MS, (performance.now() - nowMs) / SHARE_OF_TIME);
    this.#findWriters();
    this.#shortages = this.#directories.flatMap((directory) => {
      const reason = shortageIn(directory, this.#filesIn(directory));
      return reason === undefined ? [] : [{ path: directory, reason }];
    });
  }

  #filesIn(directory: string) {
    const rings = [...this.#rings.values()].map(({ path, livePid }) => ({ path, state: 'ready', writer: livePid }));
    const others = [...this.#problems].map(([path, { state = 'absent' }]) => ({ path, state }));
    return [...rings, ...others].filter((file) => file.path.startsWith(path.join(directory, '/')));
  }

  #forget(file: string): void {
    this.#rings.get(file)?.close();
    this.#rings.delete(file);
  }

  #findWriters(): void {
    const nowMs = performance.now();
    const rings = [...this.#rings.values()];
    for (const ring of rings) ring.checkWriter(Date.now());
    if (nowMs < this.#nextWritersMs || rings.length === 0) return;
    const pids = findWriters(rings.map((ring) => ring.path));
    this.#nextWritersMs = nowMs + Math.max(WRITERS_INTERVAL_MS, (performance.now() - nowMs) / SHARE_OF_TIME);
    for (const [i, ring] of rings.entries()) ring.setWriters(pids[i]!, Date.now());
  }

  /** Directories with agents of unknown life, as serve reports them. */
  #unseen(agents: readonly TopAgent[]) {
    const found = agents.map(({ life, unused, place = this.name }) => {
      return { directory: place, life, exported: !unused, searched: true };
    });
    return this.#unseenLives.problems(found);
  }

  /** Directories short of space, and files that cannot be read. `text`: path and reason. */
  #problemsOf(rings: readonly RingTotals[]) {
    const unopened = [...this.#problems].map(([path, { state = 'absent', message }]) => {
      return { path, state, reason: message.replace(`${path} is ${state}: `, ''), text: message };
    });
    const broken = rings.flatMap(({ path, problem }) => {
      return problem === undefined
        ? []
        : [{ path, ...problem, text: `${path} is ${problem.state}: ${problem.reason}` }];
    });
    const full = this.#shortages.map(({ path, reason }) => {
      return { path, state: 'no_space', reason, text: `${path} has ${reason}` };
    });
    return [...full, ...unopened, ...broken];
  }

  #notes(rings: readonly RingTotals[], agents: readonly TopAgent[]): string[] {
    const notes = this.#complaints.map(({ text }) => text);
    const stalled = rings.filter((ring, i) => ring.stalled && !agents[i]!.unused && agents[i]!.life !== 'dead');
    if (stalled.length > 0) {
      notes.push(`${named(stalled)} full: no consumer drains it, so new events are dropped`);
    }
    const lapped = rings.filter((_, i) => agents[i]!.suspect);
    if (lapped.length > 0) notes.push(`${named(lapped)} too fast to be observed: numbers are too low; --url has all`);
    const shared = rings.find(({ writers }) => writers.length > 1);
    if (shared !== undefined) {
      notes.push(
        `${shared.writers.join(' and ')} can write ${path.basename(shared.path)}: one directory or name for each`,
      );
    }
    const [first, ...more] = this.#problemsOf(rings).map(({ text }) => text);
    if (first !== undefined) notes.push(first + (more.length > 0 ? ` (and ${more.length} more files)` : ''));
    return notes;
  }
}

/** `agent-0 is`, `3 rings are`. */
function named(rings: readonly RingTotals[]): string {
  return rings.length === 1 ? `${path.basename(rings[0]!.path)} is` : `${rings.length} rings are`;
}
