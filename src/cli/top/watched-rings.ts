/** Samples from the rings of directories, found and observed by a timer. It drains nothing. */
import path from 'node:path';
import { type NixlTelemetryError, reasonOf } from '../../errors.js';
import { findWriters, requireRings } from '../../shm-bridge/ring.js';
import { ExitCode, exitCodeOf, Failure, unavailability } from '../process/failure.js';
import { type Complaint, filesBelow, isNotPermitted, statOf } from '../ring-files.js';
import type { Past } from './points.js';
import { RingTotals } from './ring-totals.js';
import type { AgentDetails, AgentTotals, Sample, Sampler } from './sampler.js';

/** Half of the time in which the fastest agent fills a ring of 4096 events. */
const OBSERVE_INTERVAL_MS = 50;
const SEARCH_INTERVAL_MS = 500;
const WRITERS_INTERVAL_MS = 1_000;
/** Largest share of the time for searches. If many files or processes make them slow, searches become rare. */
const SHARE_OF_TIME = 0.05;

export class WatchedRings implements Sampler {
  readonly name: string;
  readonly #directories: readonly string[];
  readonly #rings = new Map<string, RingTotals>();
  #problems = new Map<string, NixlTelemetryError>();
  #complaints: readonly Complaint[] = [];
  #nextSearchMs = 0;
  #nextWritersMs = 0;
  readonly #timer: NodeJS.Timeout;

  /** @throws NixlTelemetryError ADDON_MISSING, PLATFORM_UNSUPPORTED */
  constructor(directories: readonly string[]) {
    requireRings();
    this.#directories = directories;
    this.name = directories.join(', ');
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), OBSERVE_INTERVAL_MS);
  }

  sample(): Promise<Sample> {
    this.#tick();
    const nowMs = Date.now();
    const rings = [...this.#rings.values()];
    const agents = rings.map((ring) => ring.totals(nowMs));
    const origin = { kind: 'rings', name: this.name, directories: this.#directories } as const;
    const problems = this.#problemsOf(rings);
    const complaints = this.#complaints.map(({ text }) => text);
    const facts = { origin, problems, problemCount: problems.length, complaints };
    return Promise.resolve({ takenMs: nowMs, agents, notes: this.#notes(rings, agents), facts });
  }

  details(id: string): Promise<AgentDetails | undefined> {
    return Promise.resolve([...this.#rings.values()].find((ring) => ring.id === id)?.details());
  }

  /** Rings have no history. */
  pasts(): Promise<readonly Past[]> {
    return Promise.resolve([]);
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
    for (const [i, ring] of rings.entries()) ring.setWriter(pids[i], Date.now());
  }

  /** Files that cannot be read. `text`: path and reason. */
  #problemsOf(rings: readonly RingTotals[]) {
    const unopened = [...this.#problems].map(([path, { state = 'absent', message }]) => {
      return { path, state, reason: message.replace(`${path} is ${state}: `, ''), text: message };
    });
    const broken = rings.flatMap(({ path, problem }) => {
      return problem === undefined
        ? []
        : [{ path, ...problem, text: `${path} is ${problem.state}: ${problem.reason}` }];
    });
    return [...unopened, ...broken];
  }

  #notes(rings: readonly RingTotals[], agents: readonly AgentTotals[]): string[] {
    const notes = this.#complaints.map(({ text }) => text);
    const stalled = rings.filter((ring, i) => ring.stalled && !agents[i]!.unused && agents[i]!.life !== 'dead');
    if (stalled.length > 0) {
      notes.push(`${named(stalled)} full: no consumer drains it, so new events are dropped`);
    }
    const lapped = rings.filter((_, i) => agents[i]!.missed);
    if (lapped.length > 0) notes.push(`${named(lapped)} too fast to be observed: numbers are too low; --url has all`);
    const [first, ...more] = this.#problemsOf(rings).map(({ text }) => text);
    if (first !== undefined) notes.push(first + (more.length > 0 ? ` (and ${more.length} more files)` : ''));
    return notes;
  }
}

/** `agent-0 is`, `3 rings are`. */
function named(rings: readonly RingTotals[]): string {
  return rings.length === 1 ? `${path.basename(rings[0]!.path)} is` : `${rings.length} rings are`;
}
