/** Durations from five distributions, the same in each run, and their exact percentiles. */
import path from 'node:path';
import { RingWriter } from '../../dist/rings.js';
import { randomNumbers, spread } from './transfers.mjs';

/** Whole microseconds, by the name of the agent that has them. */
const DISTRIBUTIONS = {
  constant: () => 1,
  bimodal: (random) => (random() < 0.8 ? spread(random, 3, 0.3) : spread(random, 12_000, 0.2)),
  lognormal: (random) => spread(random, 400, 1.5),
  // Pareto: of infinite variance.
  'heavy-tail': (random) => Math.ceil(2 * random() ** (-1 / 1.1)),
  uniform: (random) => Math.ceil(1000 * random()),
};
const [TX_BYTES, TX_REQUESTS, XFER_TIME, XFER_POST_TIME] = [0, 2, 6, 7];
const BYTES = 4096;

export const FIGURES = ['p50', 'p90', 'p99', 'max'];

/** An agent whose transfers have the durations of one distribution. */
export class DistributedAgent {
  name;
  file;
  /** Microseconds, by the names of FIGURES. */
  exact;
  #durations;
  #writer;

  /** Makes a ring for each distribution, with room for all events of two calls of write(). */
  static all(directory, transfers) {
    return Object.keys(DISTRIBUTIONS).map((name) => new DistributedAgent(directory, name, transfers));
  }

  constructor(directory, name, transfers) {
    const random = randomNumbers();
    this.name = name;
    this.file = path.join(directory, name);
    this.#durations = Uint32Array.from({ length: transfers }, () => DISTRIBUTIONS[name](random));
    this.exact = exactFigures(this.#durations);
    const capacity = 2 ** Math.ceil(Math.log2(8 * transfers + 1));
    this.#writer = new RingWriter(this.file, { wireVersion: 4, capacity });
  }

  /** Writes all transfers. They are posted in the same time. */
  write() {
    for (const us of this.#durations) {
      this.#push(XFER_POST_TIME, us);
      this.#push(XFER_TIME, us);
      this.#push(TX_BYTES, BYTES);
      this.#push(TX_REQUESTS, 1);
    }
  }

  close() {
    this.#writer.close();
  }

  #push(type, value) {
    if (!this.#writer.push({ type, value })) throw new Error(`the ring of ${this.name} is full`);
  }
}

/** Values of the nearest rank: those of a copy of all values are the same. */
function exactFigures(values) {
  const sorted = values.slice().sort();
  const at = (percent) => sorted[Math.ceil((percent * sorted.length) / 100) - 1];
  return { p50: at(50), p90: at(90), p99: at(99), max: at(100) };
}
