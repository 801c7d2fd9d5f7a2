/**
 * Answers about one sample. Each is made once for all that ask for it meanwhile, and only one at a time: the making takes
 * milliseconds and megabytes, which clients could ask for by the thousand.
 */
import type { Socket } from 'node:net';
import type { HistorySample } from '../history/recorder.js';

/** Answers that are kept for further clients: a client may vary its questions. */
const MOST_KEPT = 8;
/** Time for which they are kept. A sample is asked for during half a second. */
const KEPT_MS = 1000;

interface Making {
  readonly bytes: Promise<Uint8Array>;
  readonly clients: Set<Socket>;
}

/** Reason why an answer was not made. */
export class AllGone extends Error {}

export class SampleAnswers {
  readonly #made = new Map<string, Making>();
  #sample: HistorySample | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  /** @throws AllGone if all clients have gone when it is the turn of this answer; errors of `make` */
  of(sample: HistorySample, question: string, client: Socket, make: () => Promise<string>): Promise<Uint8Array> {
    if (sample !== this.#sample) this.#begin(sample);
    const known = this.#made.get(question);
    known?.clients.add(client);
    return known?.bytes ?? this.#make(question, new Set([client]), make);
  }

  #make(question: string, clients: Set<Socket>, make: () => Promise<string>): Promise<Uint8Array> {
    const bytes = this.#last.then(async () => {
      if ([...clients].every(({ destroyed }) => destroyed)) throw new AllGone();
      return Buffer.from(`${await make()}\n`);
    });
    const making = { bytes, clients };
    const made = this.#made;
    made.set(question, making);
    if (made.size > MOST_KEPT) made.delete(made.keys().next().value!);
    this.#last = bytes.then(
      () => clients.clear(),
      () => made.get(question) === making && made.delete(question),
    );
    return bytes;
  }

  /** Forgets answers about the sample before, and those about this one after a while. */
  #begin(sample: HistorySample | undefined): void {
    this.#made.clear();
    this.#sample = sample;
    clearTimeout(this.#timer);
    if (sample !== undefined) this.#timer = setTimeout(() => this.#begin(undefined), KEPT_MS).unref();
  }
}
