/** The directory of a run: on a tmpfs with room, for its user alone. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { attempt, reasonOf } from '../../ground/errors.js';
import { bytesText } from '../../ground/figures/figure.js';
import type { RunFacts } from '../../report/run-report.js';
import { Failure } from '../../process/failure.js';

const PREFIX = 'nixl-otel-run-';
/** Below the run's directory: files beside the rings would count as problems. */
const RINGS = 'rings';
const FACTS = 'run.json';
/** Types of tmpfs and ramfs, as statfs() has them. */
const IN_MEMORY = [0x01021994, 0x858458f6];
/** 64 agents with rings of NIXL's default size, and their state. */
const LEAST_FREE_BYTES = 8 * 2 ** 20;

export interface RunDirectory {
  readonly path: string;
  /** Directory of the rings. */
  readonly rings: string;
  readonly isInMemory: boolean;
  /** Free bytes of its file system; Infinity without a limit. */
  readonly freeBytes: number;
}

/** What a run leaves for `report`. */
export interface FactsOfRun {
  readonly run: RunFacts;
  readonly notes: readonly string[];
}

/**
 * Makes a directory below `parent`, or without it on the first tmpfs with room.
 * @throws Failure with the reason of each place
 */
export function makeRunDirectory(parent?: string): RunDirectory {
  const places = parent === undefined ? usualPlaces() : [parent];
  const found = places.map(examined);
  const usable = found.filter(({ problem }) => problem === undefined);
  const inOrder = [...usable.filter(({ isInMemory }) => isInMemory), ...usable.filter((one) => !one.isInMemory)];
  const reasons = found.flatMap(({ place, problem }) => (problem === undefined ? [] : [`${place} ${problem}`]));
  for (const { place, ...about } of inOrder) {
    try {
      const own = mkdtempSync(path.join(place, PREFIX));
      const rings = path.join(own, RINGS);
      mkdirSync(rings, { mode: 0o700 });
      return { path: own, rings, ...about };
    } catch (error) {
      reasons.push(`${place} cannot be written: ${reasonOf(error)}`);
    }
  }
  throw new Failure(`no place for a directory of rings: ${reasons.join('; ')}; --tmpfs names another one`);
}

function usualPlaces(): readonly string[] {
  const { XDG_RUNTIME_DIR } = process.env;
  return [...new Set(['/dev/shm', ...(XDG_RUNTIME_DIR ? [XDG_RUNTIME_DIR] : []), tmpdir()])];
}

function examined(place: string) {
  try {
    const { type, blocks, bavail, bsize } = statfsSync(place);
    const freeBytes = blocks === 0 ? Infinity : bavail * bsize;
    const problem = freeBytes < LEAST_FREE_BYTES ? `has ${bytesText(freeBytes)} free` : undefined;
    return { place: path.resolve(place), isInMemory: IN_MEMORY.includes(type), freeBytes, problem };
  } catch (error) {
    return { place, isInMemory: false, freeBytes: 0, problem: `cannot be used: ${reasonOf(error)}` };
  }
}

export function keepFacts(directory: string, facts: FactsOfRun): void {
  writeFileSync(path.join(directory, FACTS), JSON.stringify(facts), { mode: 0o600 });
}

/** Returns undefined for a directory that no run made. */
export function keptFacts(directory: string): (FactsOfRun & { readonly rings: string }) | undefined {
  const facts = attempt(() => JSON.parse(readFileSync(path.join(directory, FACTS), 'utf8')) as Partial<FactsOfRun>);
  const isRight = Array.isArray(facts?.run?.command) && typeof facts.run.beginMs === 'number';
  return isRight ? { ...(facts as FactsOfRun), rings: path.join(directory, RINGS) } : undefined;
}

export function removeRunDirectory({ path: own }: RunDirectory): void {
  rmSync(own, { recursive: true, force: true });
}
