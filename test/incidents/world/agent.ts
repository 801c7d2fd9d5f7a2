/** An agent in a world: posts transfers, and sees them end as its program does. */
import type { Agenda } from './agenda.js';
import type { Faults } from './faults.js';
import type { Link } from './link.js';
import type { Random } from './random.js';
import type { AgentRow, SeenTransfer } from './shapes.js';
import type { EngineLoop, Stepped } from './step-loop.js';

/** What arrives while as many are open is not sent. */
const MOST_OPEN = 64;
const WARM_TRANSFERS = 20;
const BASE_SIGMA = 0.1;
const TAIL_SIGMA = 0.5;
const OUTLIER_FACTOR = 3;

interface Sent {
  readonly bytes: number;
  readonly postedUs: number;
  readonly postUs: number;
  /** Called when it has been seen. */
  readonly seen: ((atUs: number) => void) | undefined;
  /** Time at which it can be seen. */
  readyUs: number;
}

interface Wanted {
  readonly bytes: number;
  readonly seen: ((atUs: number) => void) | undefined;
}

export class Agent implements Stepped {
  openTransfers = 0;
  hasEnded = false;
  readonly row: AgentRow;
  readonly faults: Faults;
  readonly random: Random;
  readonly #agenda: Agenda;
  readonly #link: Link;
  readonly #loop: EngineLoop | undefined;
  readonly #take: (transfer: SeenTransfer) => void;
  #posted = 0;
  #wanted: Wanted[] = [];
  /** Moved, but not seen yet. */
  #arrived: Sent[] = [];

  constructor(parts: {
    readonly row: AgentRow;
    readonly faults: Faults;
    readonly random: Random;
    readonly agenda: Agenda;
    readonly link: Link;
    readonly loop: EngineLoop | undefined;
    readonly take: (transfer: SeenTransfer) => void;
  }) {
    this.row = parts.row;
    this.faults = parts.faults;
    this.random = parts.random;
    this.#agenda = parts.agenda;
    this.#link = parts.link;
    this.#loop = parts.loop;
    this.#take = parts.take;
    this.#loop?.add(this);
  }

  /** Asks for a transfer. */
  ask(atUs: number, bytes: number, seen?: (atUs: number) => void): void {
    if (this.hasEnded || this.openTransfers >= MOST_OPEN) return;
    this.openTransfers++;
    if (this.#loop === undefined) {
      this.#post(atUs, { bytes, seen });
    } else {
      this.#wanted.push({ bytes, seen });
      this.#loop.wake(atUs);
    }
  }

  end(): void {
    this.hasEnded = true;
    this.openTransfers = 0;
    this.#wanted = [];
    this.#arrived = [];
  }

  lateness(atUs: number): number {
    return this.faults.factor('late', atUs);
  }

  stallEndUs(atUs: number): number | undefined {
    return this.faults.stallEndUs(atUs);
  }

  step(atUs: number): number {
    const arrived = this.#arrived;
    if (arrived.length > 0) {
      this.#arrived = arrived.filter(({ readyUs }) => readyUs > atUs);
      for (const sent of arrived) if (sent.readyUs <= atUs) this.#see(atUs, sent);
    }
    let nextUs = atUs;
    const wanted = this.#wanted;
    this.#wanted = [];
    for (const one of wanted) nextUs = this.#post(nextUs, one);
    return nextUs;
  }

  /** Returns the time at which the post is done. */
  #post(atUs: number, { bytes, seen }: Wanted): number {
    const { inline, baseUs, warmMs = 0 } = this.row;
    const coldness = warmMs > 0 && this.#posted < WARM_TRANSFERS ? Math.exp(-this.#posted / 5) : 0;
    this.#posted++;
    const postUs = this.#postUs(atUs, bytes) * (1 + 19 * coldness);
    if (inline !== undefined && this.random.uniform() < this.#inlineShare(atUs, inline.share)) {
      const movedUs = (bytes * this.#times('size', atUs, bytes)) / inline.bytesPerUs;
      const wholeUs = postUs + movedUs + inline.us;
      const sent = { bytes, postedUs: atUs, postUs: wholeUs, seen, readyUs: atUs + wholeUs };
      this.#agenda.add(sent.readyUs, (nowUs) => this.#see(nowUs, sent));
      return sent.readyUs;
    }
    const moreUs = baseUs * this.random.around(BASE_SIGMA) + this.#latencyUs(atUs) + warmMs * 1000 * coldness;
    const sent: Sent = { bytes, postedUs: atUs, postUs, seen, readyUs: Infinity };
    const need = this.#need(atUs, bytes);
    const postedUs = atUs + postUs;
    // The time on the link begins only then: others may begin before.
    this.#agenda.add(postedUs, (nowUs) =>
      this.#link.move(nowUs, need, (movedUs) => {
        sent.readyUs = movedUs + moreUs;
        if (this.#loop === undefined) this.#agenda.add(sent.readyUs, (seenUs) => this.#see(seenUs, sent));
        else if (!this.hasEnded) this.#arrived.push(sent);
      }),
    );
    return postedUs;
  }

  #see(atUs: number, { bytes, postedUs, postUs, seen }: Sent): void {
    if (this.hasEnded) return;
    this.openTransfers--;
    const [loss] = this.faults.present('loss', atUs);
    this.#take({
      agent: this.row.name,
      seenUs: atUs,
      postUs: wholeUs(postUs),
      timeUs: wholeUs(atUs - postedUs),
      bytes,
      direction: this.row.direction,
      lost: loss !== undefined && this.random.uniform() < loss.factor,
    });
    seen?.(atUs);
  }

  #postUs(atUs: number, bytes: number): number {
    const { us, perBlockUs, blockBytes, sigma, tailShare, tailFactor } = this.row.post;
    const isLate = this.lateness(atUs) > 1.5;
    const isTail = this.random.uniform() < tailShare * (isLate ? 1.7 : 1);
    const tail = isTail ? tailFactor * this.random.around(TAIL_SIGMA) : 1;
    const usual = (us + (perBlockUs * bytes) / blockBytes) * this.random.around(sigma) * tail * (isLate ? 1.25 : 1);
    return this.#times('post', atUs, bytes) * usual;
  }

  #latencyUs(atUs: number): number {
    return this.faults.present('latency', atUs).reduce((sum, { factor }) => sum + factor, 0);
  }

  /** Bytes that the link moves for a transfer. */
  #need(atUs: number, bytes: number): number {
    const { noise, outlierShare } = this.row;
    const outlier = this.random.uniform() < outlierShare ? OUTLIER_FACTOR : 1;
    const factor =
      this.#times('size', atUs, bytes) * this.#times('class', atUs, bytes) * this.#times('some', atUs, bytes);
    return bytes * noise(this.random) * outlier * factor;
  }

  /** Returns the factor of the faults of a kind that concern this transfer. */
  #times(kind: 'size' | 'class' | 'some' | 'post', atUs: number, bytes: number): number {
    let product = 1;
    for (const { factor, fromBytes = 0, upToBytes, share = 1 } of this.faults.present(kind, atUs)) {
      const concerns = bytes >= fromBytes && (upToBytes === undefined || (bytes <= upToBytes && bytes > upToBytes / 2));
      if (concerns && (share === 1 || this.random.uniform() < share)) product *= factor;
    }
    return product;
  }

  #inlineShare(atUs: number, share: number): number {
    if (this.faults.factor('link', atUs) > 1) return 0;
    return share / Math.sqrt(this.#loop?.growth(atUs) ?? 1);
  }
}

function wholeUs(us: number): number {
  return Math.max(1, Math.round(us));
}
