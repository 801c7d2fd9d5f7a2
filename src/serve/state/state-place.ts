/** Where serve keeps its own files: beside the rings of a sample. */
import type { Snapshot } from '../../shm-bridge/types.js';
import { warnOnce } from '../../process/output.js';

interface Placed {
  readonly snapshot: Pick<Snapshot, 'places'>;
  readonly agents: readonly { readonly directory: string }[];
}

export class StatePlace {
  readonly complain = warnOnce();
  #sample: Placed | undefined;

  /** Takes the newest sample. */
  take(sample: Placed): void {
    this.#sample = sample;
  }

  /** Returns those of the settings, then those that globs found. */
  readonly directories = (): string[] => {
    const { snapshot, agents = [] } = this.#sample ?? {};
    const given = (snapshot?.places ?? []).filter(({ isGlob }) => !isGlob).map(({ path }) => path);
    return [...new Set([...given, ...agents.map(({ directory }) => directory)])];
  };

  /** The bytes are those of all rings of its file system. */
  readonly lackBytes = (directory: string): number => {
    const places = this.#sample?.snapshot.places ?? [];
    const own = places.find(({ path }) => path === directory);
    return own?.space.lackBytes ?? Math.max(0, ...places.map(({ space }) => space.lackBytes));
  };
}
