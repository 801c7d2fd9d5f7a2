/** Judges the transfers of one agent and direction over time. Pure. */
import type { DirectionTimes } from '../../ground/tally.js';
import type { TimeWindow } from './block-sums.js';
import { DirectionBlocks, WINDOW_LIMIT_MS, type WindowSpan } from './direction-blocks.js';
import { compare, type Compared, LONG, SHORT } from './growth.js';
import type { Curve } from './host-curves.js';
import { carriedBy, type Peer } from './load.js';
import { BLOCK_MS, BLOCK_TRANSFERS, CLASS_TRANSFERS, UsualTimes, type Usual } from './usual-times.js';
import { isSlowAlarm, type SlowKind } from './slow-facts.js';
import { comparedIn, growthFactor, type Judged, judgeWindow, postGrowthFactor } from './window-judgement.js';

/** The first transfers of an agent take longer: connections are made, memory is touched for the first time. */
const FIRST_TRANSFERS = 20;
const SHORT_SPAN: WindowSpan = { ms: 20_000, transfers: 20 };
const LONG_SPAN: WindowSpan = { ms: 120_000, transfers: 60 };
/** A first transfer that is worth a note: this long, and this many times as long as usual. */
const COLD_US = 1e6;
const COLD_FACTOR = 20;

interface Patience {
  /** Time for which it is found before it is said. */
  readonly sayAfterMs: number;
  /** Time after which it has ended if it is not found again. */
  readonly holdMs: number;
}
const ALARM: Patience = { sayAfterMs: 0, holdMs: 20_000 };
/** A healthy engine has each of them for a while many times a day. */
const NOTE: Patience = { sayAfterMs: 120_000, holdMs: 120_000 };
const PATIENCE: Readonly<Record<SlowKind, Patience>> = {
  'slow-transfers': ALARM,
  'slow-posts': ALARM,
  'late-completion': NOTE,
  busy: NOTE,
  // Found once.
  'cold-start': { sayAfterMs: 0, holdMs: 600_000 },
};
/** Classes that an agent must have in common with a curve: one alone cannot tell a slow link from late asking. */
const COMMON_CLASSES = 2;

/** How many times as long as usual transfers take, and their posts; absent where nothing tells it. */
export interface Slowdowns {
  readonly slowdown: number | undefined;
  readonly postSlowdown: number | undefined;
}

/** What is found now. */
export interface FoundSlowness {
  readonly judged: Judged;
  readonly sinceMs: number;
  readonly saidMs: number;
  readonly againstOthers: boolean;
}

interface Standing {
  found: FoundSlowness;
  readonly beganMs: number;
  lastMs: number;
}

interface DirectionBegin {
  /** Time of the first sample with the agent, and of the one before. */
  readonly takenMs: number;
  readonly lastMs: number;
  /** True if the agent began between both. Else its counts begin with the first one. */
  readonly isNew: boolean;
  /** Time after which a changed normal is usual. */
  readonly acceptMs: number;
}

export class DirectionJudge {
  readonly #acceptMs: number;
  #reference: UsualTimes;
  readonly #blocks: DirectionBlocks;
  readonly #isNew: boolean;
  #seen = 0;
  #movedMs = -Infinity;
  /** True once a change was accepted: then earlier agents tell nothing about this one. */
  #isAccepted = false;
  #learnFromMs: number;
  #takenMs: number;
  #short: TimeWindow | undefined;
  /** The first transfers, until it is known what is usual. */
  #first: TimeWindow[] | undefined;
  #standing = new Map<SlowKind, Standing>();

  constructor({ takenMs, lastMs, isNew, acceptMs }: DirectionBegin) {
    this.#blocks = new DirectionBlocks(isNew ? lastMs : takenMs, isNew, [SHORT_SPAN, LONG_SPAN]);
    this.#reference = new UsualTimes(acceptMs);
    this.#acceptMs = acceptMs;
    this.#isNew = isNew;
    this.#learnFromMs = this.#takenMs = takenMs;
  }

  get usual(): Usual {
    return this.#reference.usual;
  }

  get found(): readonly FoundSlowness[] {
    return [...this.#standing].flatMap(([kind, { found, beganMs, lastMs }]) => {
      // The words of both would contradict each other.
      const isHidden = this.#standing.has('slow-transfers') && (kind === 'late-completion' || kind === 'busy');
      const isSaid = lastMs - beganMs >= PATIENCE[kind].sayAfterMs && !isHidden;
      return isSaid ? [found] : [];
    });
  }

  /** Takes a sample. Returns true if something moved. */
  take(takenMs: number, counts: DirectionTimes): boolean {
    const transfers = this.#blocks.take(takenMs, counts);
    this.#takenMs = takenMs;
    this.#short = undefined;
    if (transfers === 0) {
      // Without transfers, alarms stand until no window has what they are about.
      this.#expire((kind) => (isSlowAlarm({ kind }) ? WINDOW_LIMIT_MS : PATIENCE[kind].holdMs));
      return false;
    }
    this.#movedMs = takenMs;
    if (this.#isNew && this.#seen < FIRST_TRANSFERS) {
      this.#first = [...(this.#first ?? []), ...this.#blocks.backwards()];
      this.#blocks.forget();
      this.#learnFromMs = takenMs;
    }
    this.#seen += transfers;
    return true;
  }

  /** Returns this agent as a peer of others; undefined if nothing can be compared. */
  peer(): Peer | undefined {
    const short = this.#shortWindow();
    if (short.endMs - short.beginMs > LONG_SPAN.ms) return undefined;
    const factor = growthFactor(comparedIn(short, this.usual));
    return factor === undefined ? undefined : { carried: carriedBy(short, this.usual), factor };
  }

  /** True if something moves and nothing is usual yet. */
  get isUnjudged(): boolean {
    return this.#takenMs - this.#movedMs < LONG_SPAN.ms && this.usual.classes.length === 0;
  }

  get slowdowns(): Slowdowns {
    const compared = comparedIn(this.#shortWindow(), this.usual);
    return {
      slowdown: this.#orFound('slow-transfers', growthFactor(compared)),
      postSlowdown: this.#orFound('slow-posts', postGrowthFactor(compared)),
    };
  }

  /** What is found may be slow in a few of its classes only, or by the usual times of other agents. */
  #orFound(kind: SlowKind, factor: number | undefined): number | undefined {
    const found = this.#standing.get(kind)?.found.judged.factor;
    return found === undefined ? factor : Math.max(found, factor ?? 0);
  }

  #shortWindow(): TimeWindow {
    return (this.#short ??= this.#blocks.last(SHORT_SPAN));
  }

  /** Judges after each sample with transfers. `peers`: returns the other agents of the host and direction. */
  judge(peers: () => readonly Peer[], curves: readonly Curve[]): void {
    const short = this.#shortWindow();
    const long = this.#blocks.last(LONG_SPAN);
    const { usual } = this;
    const isYoung = usual.classes.length === 0;
    const judged = isYoung
      ? this.#byCurves(short, long, this.#isAccepted ? [] : curves)
      : this.#by(usual, short, long, peers);
    for (const one of judged) this.#found(one, isYoung);
    this.#expire((kind) => PATIENCE[kind].holdMs);
    this.#blocks.trim();
  }

  #expire(holdMsOf: (kind: SlowKind) => number): void {
    for (const [kind, { lastMs }] of this.#standing) {
      if (this.#takenMs - lastMs >= holdMsOf(kind)) this.#standing.delete(kind);
    }
  }

  /** Forgets all times, but not what is usual. */
  beginAgain(takenMs: number): void {
    this.#blocks.beginAgain(takenMs);
    this.#standing.clear();
    this.#learnFromMs = this.#takenMs = takenMs;
  }

  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** True if a restart must not forget what is usual, or that nothing is since a change was accepted. */
  get isKept(): boolean {
    return this.usual.blocks > 0 || this.#isAccepted;
  }

  /** Takes what an earlier process kept, unless this one has learned already. */
  restore(usual: Usual): void {
    if (this.usual.blocks > 0) return;
    this.#reference = new UsualTimes(this.#acceptMs, usual);
    this.#isAccepted = usual.blocks === 0;
  }

  /** Takes what is now as usual. */
  accept(): void {
    this.#isAccepted = true;
    this.#reference = new UsualTimes(this.#acceptMs);
    this.#standing.clear();
    this.#learnFromMs = this.#takenMs;
  }

  #by(usual: Usual, short: TimeWindow, long: TimeWindow, peers: () => readonly Peer[]): Judged[] {
    const byShort = judgeWindow(short, usual, { strictness: SHORT, peers });
    const byLong = judgeWindow(long, usual, { strictness: LONG, peers });
    const kinds = new Map([...byLong, ...byShort].map((one) => [one.kind, one]));
    // The long window still mixes what the short one tells apart: there, the rest of the transfers grew by more.
    const isRest = kinds.has('slow-transfers') && !byShort.some(({ kind }) => kind === 'slow-posts');
    if (isRest) kinds.delete('slow-posts');
    return [...kinds.values()];
  }

  /** Slow by each of them: another agent may have been unlike this one for any reason. */
  #byCurves(short: TimeWindow, long: TimeWindow, curves: readonly Curve[]): Judged[] {
    const slow: Judged[] = [];
    for (const { usual } of curves) {
      const isLike = comparedIn(long, usual).length >= COMMON_CLASSES;
      if (!isLike) continue;
      const judged = [LONG, SHORT].flatMap((strictness) => {
        const window = strictness === LONG ? long : short;
        const compared = comparedIn(window, usual);
        if (compared.length < COMMON_CLASSES) return [];
        const all = judgeWindow(window, usual, { strictness, peers: () => [] });
        return all.filter(({ kind }) => kind === 'slow-transfers');
      });
      if (judged.length === 0) return [];
      slow.push(judged.at(-1)!);
    }
    return slow.sort((a, b) => a.factor - b.factor).slice(0, 1);
  }

  #found(judged: Judged, againstOthers: boolean): void {
    const standing = this.#standing.get(judged.kind);
    if (standing === undefined) {
      const takenMs = this.#takenMs;
      const found = {
        judged,
        sinceMs: this.#beginOf(judged),
        saidMs: takenMs + PATIENCE[judged.kind].sayAfterMs,
        againstOthers,
      };
      this.#standing.set(judged.kind, { found, beganMs: takenMs, lastMs: takenMs });
    } else {
      standing.found = { ...standing.found, judged };
      standing.lastMs = this.#takenMs;
    }
  }

  /** Returns the begin of the oldest block without a block between it and now that was as fast as usual. */
  #beginOf({ kind, classes, factor }: Judged): number {
    const halfway = Math.max(1.3, Math.sqrt(factor));
    let beginMs = this.#takenMs;
    for (const block of this.#blocks.backwards()) {
      const is = isSlowBlock(block, classes, halfway, kind === 'slow-posts');
      if (is === false) break;
      if (is) ({ beginMs } = block);
    }
    return beginMs;
  }

  /** Learns what is usual, after all agents are judged by what was. Returns true if it learned. */
  learn(): boolean {
    const found = [...this.#standing].filter(([kind]) => isSlowAlarm({ kind }));
    if (found.length > 0) {
      this.#learnFromMs = this.#takenMs;
      if (found.some(([, { beganMs }]) => this.#takenMs - beganMs >= this.#acceptMs)) this.accept();
      return false;
    }
    if (this.#takenMs - this.#learnFromMs < BLOCK_MS) return false;
    const block = this.#blocks.since(this.#learnFromMs);
    if (block.transfers < BLOCK_TRANSFERS) return false;
    this.#reference.learn({ ...block, beginMs: this.#learnFromMs }, this.#standing.has('late-completion'));
    this.#learnFromMs = this.#takenMs;
    this.#judgeFirst();
    return true;
  }

  /** Compares the first transfers with what is usual, once that is known. */
  #judgeFirst(): void {
    const { usual } = this;
    if (this.#first === undefined || usual.classes.length === 0) return;
    const cold = this.#first.flatMap((window) => {
      return coldIn(window, usual).map((one) => ({ one, sinceMs: window.beginMs, factor: one.p50 / one.usualP50 }));
    });
    this.#first = undefined;
    const [longest] = cold.sort((a, b) => b.one.p50 - a.one.p50);
    if (longest === undefined) return;
    const { one, sinceMs, factor } = longest;
    const judged = { kind: 'cold-start', factor, classes: [one], compared: [one], ambiguous: false } as const;
    const found = { judged, sinceMs, saidMs: this.#takenMs, againstOthers: false };
    this.#standing.set('cold-start', { found, beganMs: this.#takenMs, lastMs: this.#takenMs });
  }
}

/** Returns the classes whose longest transfer took much longer than usual, with that time in place of the median. */
function coldIn({ classes }: TimeWindow, usual: Usual): Compared[] {
  const longest = classes.map((now) => ({
    ...now,
    count: CLASS_TRANSFERS,
    p50: now.max,
    ...(now.post && { post: { ...now.post, p50: now.post.max } }),
  }));
  return compare(longest, usual.classes, true).filter(
    ({ p50, usualP50 }) => p50 >= COLD_US && p50 >= COLD_FACTOR * usualP50,
  );
}

/** Returns undefined if the block has no transfer of the classes. */
function isSlowBlock(
  block: TimeWindow,
  classes: readonly Compared[],
  halfway: number,
  isPost: boolean,
): boolean | undefined {
  let slow = 0;
  let all = 0;
  for (const { usual, usualP50, usualPost } of classes) {
    const now = block.classes.find(({ upToBytes }) => upToBytes === usual.upToBytes);
    if (now === undefined) continue;
    all += now.count;
    const isSlow = isPost ? (now.post?.p50 ?? 0) >= halfway * usualPost : now.p50 >= halfway * usualP50;
    if (isSlow) slow += now.count;
  }
  return all === 0 ? undefined : 2 * slow >= all;
}
