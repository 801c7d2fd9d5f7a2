/**
 * Moves durations from a tap into synchronous histograms, because the metrics API has no observable ones. This costs
 * main-thread time per event, so the pump works within a time budget, in slices of at most a millisecond.
 */
import { DEFAULT_DURATION_BUDGET_MS } from '../../settings/option-rows.js';
import type { EventTap, TypeBatch } from '../../shm-bridge/index.js';
import { SamplingControl, TimeBudget } from './sampling.js';

/** Slices of the timer: each takes a 33rd of the budget, at most LONGEST_SLICE_MS. */
const SLICES_PER_SECOND = 33;
const LONGEST_SLICE_MS = 1;
const IDLE_DELAY_MS = 240;
const WINDOW_MS = 250;
const BATCH_EVENTS = 256;
/** Reading the clock costs about as much as a tenth of a recording. */
const EVENTS_PER_CLOCK_CHECK = 16;
/** Cost before the first measurement: 2 us, measured on a slow machine. */
const FIRST_COST_MS = 0.002;
const COST_SMOOTHING = 0.2;
/** Limits the effect of a garbage collection in a slice on the measured cost. */
const MAX_COST_RISE = 4;

/** Outcome of one value: `unknown` if its agent is unknown or gone, `later` if its attributes are not settled yet. */
export type Recorded = 'recorded' | 'unknown' | 'later';

interface DurationPumpOptions {
  readonly tap: EventTap<TypeBatch>;
  readonly record: (agentId: number, type: number, value: number) => Recorded;
  /** Called once, when sampling begins for the first time. */
  readonly onSampling: (oneIn: number) => void;
  /** Called with errors of the timer's work. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. Default: performance.now. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds of work per second. Default: 10. */
  readonly budgetMs?: number;
}

export interface DurationCounts {
  readonly type: number;
  /** All durations in the rings, including queued ones. */
  readonly seen: number;
  readonly recorded: number;
  readonly sampledOut: number;
  /** Durations that no histogram got: the queue was full, or their agent was gone. */
  readonly lost: number;
}

export type DurationStats = readonly DurationCounts[];

export class DurationPump {
  readonly #options: DurationPumpOptions;
  readonly #now: () => number;
  readonly #sampling: SamplingControl;
  readonly #budget: TimeBudget;
  readonly #sliceMs: number;
  readonly #busyDelayMs: number;
  #timer: NodeJS.Timeout | undefined;
  #delayMs: number;
  #batch: TypeBatch | undefined;
  #next = 0;
  /** By type. */
  readonly #recorded = new Map<number, number>();
  readonly #orphaned = new Map<number, number>();
  #costMs = FIRST_COST_MS;
  #windowStartMs: number;
  #seenAtWindowStart = 0;
  #warned = false;

  constructor(options: DurationPumpOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#windowStartMs = this.#now();
    const { budgetMs = DEFAULT_DURATION_BUDGET_MS } = options;
    this.#sampling = new SamplingControl(budgetMs);
    this.#budget = new TimeBudget(this.#windowStartMs, budgetMs);
    this.#sliceMs = Math.min(LONGEST_SLICE_MS, budgetMs / SLICES_PER_SECOND);
    this.#busyDelayMs = this.#delayMs = (this.#sliceMs * 1000) / budgetMs;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    // Unref'd: telemetry must not keep an idle process alive.
    this.#timer = setTimeout(() => this.#onTimer(), this.#delayMs).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Works for at most a millisecond, within the rest of the budget. Returns the number of events that it took. */
  slice(): number {
    this.#adjustSampling();
    return this.#work(this.#sliceMs);
  }

  /**
   * Works for the rest of the budget, at most that of a second. Called at a reader's collect, so that the histograms hold
   * every event of an ordinary load when the process ends.
   */
  flush(): number {
    this.#adjustSampling();
    return this.#work(Infinity);
  }

  stats(): DurationStats {
    return this.#options.tap.stats().types.map(({ type, seen, sampledOut, overflowed }) => ({
      type,
      seen,
      recorded: this.#recorded.get(type) ?? 0,
      sampledOut,
      lost: overflowed + (this.#orphaned.get(type) ?? 0),
    }));
  }

  #onTimer(): void {
    this.#timer = undefined;
    try {
      const taken = this.slice();
      this.#delayMs = taken > 0 ? this.#busyDelayMs : Math.min(IDLE_DELAY_MS, this.#delayMs * 2);
    } catch (error) {
      this.#delayMs = IDLE_DELAY_MS;
      this.#options.onError(error);
    }
    this.start();
  }

  #work(limitMs: number): number {
    const start = this.#now();
    const allowedMs = Math.min(limitMs, this.#budget.left(start));
    if (allowedMs <= 0) return 0;
    let taken = 0;
    let now = start;
    while (now - start < allowedMs && this.#refill()) {
      const some = this.#recordSome(EVENTS_PER_CLOCK_CHECK);
      taken += some;
      now = this.#now();
      if (some === 0) break; // the attributes of the first event are not settled yet, and the queue keeps its order
    }
    this.#budget.spend(now - start);
    if (taken >= EVENTS_PER_CLOCK_CHECK) this.#learnCost((now - start) / taken);
    return taken;
  }

  #learnCost(measuredMs: number): void {
    this.#costMs += COST_SMOOTHING * (Math.min(measuredMs, MAX_COST_RISE * this.#costMs) - this.#costMs);
  }

  /** Returns false if the tap is empty. */
  #refill(): boolean {
    if (this.#batch !== undefined && this.#next < this.#batch.length) return true;
    this.#batch = this.#options.tap.take(BATCH_EVENTS);
    this.#next = 0;
    return this.#batch.length > 0;
  }

  #recordSome(most: number): number {
    const { agentIds, types, values, length } = this.#batch!;
    const end = Math.min(length, this.#next + most);
    const begin = this.#next;
    for (; this.#next < end; this.#next++) {
      const i = this.#next;
      const outcome = this.#options.record(agentIds[i]!, types[i]!, values[i]!);
      if (outcome === 'later') break;
      const counts = outcome === 'recorded' ? this.#recorded : this.#orphaned;
      counts.set(types[i]!, (counts.get(types[i]!) ?? 0) + 1);
    }
    return this.#next - begin;
  }

  #adjustSampling(): void {
    const now = this.#now();
    const elapsedMs = now - this.#windowStartMs;
    if (elapsedMs < WINDOW_MS) return;
    const { seen } = this.#options.tap.stats();
    const before = this.#sampling.oneIn;
    const oneIn = this.#sampling.update({ seen: seen - this.#seenAtWindowStart, elapsedMs, costMs: this.#costMs });
    this.#windowStartMs = now;
    this.#seenAtWindowStart = seen;
    if (oneIn === before) return;
    this.#options.tap.setSampling(oneIn);
    if (oneIn === 1 || this.#warned) return;
    this.#warned = true;
    this.#options.onSampling(oneIn);
  }
}
