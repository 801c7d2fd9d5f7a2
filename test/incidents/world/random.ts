/** Random numbers from a seed: equal on each machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    this.uniform(); // seeds that differ by one begin alike
  }

  /** Returns a number from 0 to 1, without 1 (mulberry32). */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.uniform();
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }

  /** Log-normal with the median 1. */
  around(sigma: number): number {
    return Math.exp(sigma * this.normal());
  }

  /** Exponential with the mean 1: gaps of a Poisson process. */
  gap(): number {
    return -Math.log(1 - this.uniform());
  }

  of<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.uniform() * items.length)]!;
  }
}

/** Returns a seed for a part of something that has a seed: parts draw independently of each other. */
export function seedOf(seed: number, part: string): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = 0; i < part.length; i++) hash = Math.imul(hash ^ part.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
