/** Runs builders on one source: with events from its queue, and gains from its snapshots. */
import type { Meter, Observable, ObservableResult } from '@opentelemetry/api';
import { sum } from '../../ground/exact.js';
import { METRIC_NIXL_BUILDERS_EVENTS as EVENTS } from '../../mapping/semconv.js';
import type { AgentEvent } from '../../settings/metric-builder.js';
import type { EventTap, RingSource, Snapshot } from '../../shm-bridge/index.js';
import type { AgentAttributes } from '../agents/agent-attributes.js';
import type { DiagOnce } from '../feed/diag-once.js';
import { EarlierTotals } from '../instruments/totals.js';
import { EventDirectory } from './event-directory.js';
import type { MetricProcessor } from './metric-processor.js';

const SUBJECT = 'builders';
const BATCH_EVENTS = 1024;
/** Time after which the timer starts no further batch. A batch takes as long as the builders do. */
const SLICE_MS = 5;
const BUSY_DELAY_MS = 10;
const IDLE_DELAY_MS = 100;

export const EVENTS_OPTIONS = {
  unit: '{event}',
  description: 'Events for custom builders, by outcome: delivered or lost. Other metrics lose no events.',
};

export interface BuilderRunOptions {
  readonly processor: MetricProcessor;
  readonly agentAttributes: AgentAttributes;
  readonly log: DiagOnce;
  /** Lives as long as the meter. Default: a new one. */
  readonly earlier?: EarlierTotals;
}

export class BuilderRun {
  readonly #processor: MetricProcessor;
  readonly #log: DiagOnce;
  readonly #directory: EventDirectory;
  /** Counts of earlier taps, which the counter continues. */
  readonly #earlier: EarlierTotals;
  #source: RingSource | undefined;
  /** Open while builders take single events. */
  #tap: EventTap | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Numbers of the tap's events that builders got, and of those without an agent, because it was gone. */
  #delivered = 0;
  #orphaned = 0;
  #meter: Meter | undefined;
  #observable: Observable | undefined;

  constructor({ processor, agentAttributes, log, earlier = new EarlierTotals() }: BuilderRunOptions) {
    this.#processor = processor;
    this.#log = log;
    this.#earlier = earlier;
    this.#directory = new EventDirectory(agentAttributes);
  }

  /** Lets builders count into this meter from now on. */
  useMeter(meter: Meter): void {
    if (meter !== this.#meter) {
      this.#observable?.removeCallback(this.#onObserve);
      this.#observable = undefined;
      this.#meter = meter;
    }
    this.#processor.useMeter(meter);
    this.#openTap();
    this.#observeTap();
  }

  attach(source: RingSource): void {
    this.#source = source;
    this.#openTap();
  }

  /** Hands all numbers of the snapshot to the builders. Called at a collect. */
  collect(snapshot: Snapshot): void {
    const processor = this.#processor;
    if (!processor.takesEvents && !processor.observes) return;
    this.#log.guard(SUBJECT, 'builders: collect', () => {
      this.#directory.update(snapshot.agents);
      this.#openTap(); // for builders that were added later
      this.#flush();
      this.#warnOfLoss();
      if (!processor.observes) return;
      const recovered = (agentId: number) => this.#source?.recoveredCounts(agentId);
      processor.observe(this.#directory.gains(snapshot.agents, recovered));
    });
  }

  /** Hands queued events to the builders, and leaves no timer, queue or callback behind. */
  detach(): void {
    this.#log.guard(SUBJECT, 'builders: flush', () => this.#flush());
    this.#log.guard(SUBJECT, 'builders: count', () => {
      for (const { outcome, count } of this.#counts()) this.#earlier.add(SUBJECT, EVENTS, outcome, count);
    });
    clearTimeout(this.#timer);
    this.#log.guard(SUBJECT, 'builders: queue', () => this.#tap?.close());
    this.#observable?.removeCallback(this.#onObserve);
    this.#tap = this.#source = undefined;
    this.#delivered = this.#orphaned = 0;
  }

  #openTap(): void {
    const { takesEvents, hasMeter } = this.#processor;
    if (this.#source === undefined || this.#tap !== undefined || !takesEvents || !hasMeter) return;
    this.#tap = this.#source.eventTap ?? this.#source.openEventTap();
    this.#startTimer(BUSY_DELAY_MS);
    this.#observeTap();
  }

  #observeTap(): void {
    if (this.#tap === undefined) return;
    this.#observable ??= this.#meter?.createObservableCounter(EVENTS, EVENTS_OPTIONS);
    this.#observable?.addCallback(this.#onObserve);
  }

  readonly #onObserve = (result: ObservableResult): void => {
    const earlier = this.#earlier.of(SUBJECT)?.get(EVENTS);
    for (const { outcome, count } of this.#counts()) {
      result.observe(Number(sum(count, earlier?.get(outcome))), { outcome });
    }
  };

  /** Number of events that no builder got: the queue was full, or their agent was gone. */
  get #lost(): number {
    return (this.#tap?.stats().overflowed ?? 0) + this.#orphaned;
  }

  #counts(): { outcome: string; count: number }[] {
    return [
      { outcome: 'delivered', count: this.#delivered },
      { outcome: 'lost', count: this.#lost },
    ];
  }

  /** Unref'd: telemetry must not keep an idle process alive. */
  #startTimer(delayMs: number): void {
    this.#timer = setTimeout(() => this.#onTimer(), delayMs).unref();
  }

  /** Works in batches, so that no turn of the event loop gets long. */
  #onTimer(): void {
    let taken = BATCH_EVENTS;
    try {
      const end = performance.now() + SLICE_MS;
      while (taken === BATCH_EVENTS && performance.now() < end) taken = this.#handBatch();
    } catch (error) {
      taken = 0;
      this.#log.failure(SUBJECT, 'builders: pump', error);
    }
    if (this.#tap !== undefined) this.#startTimer(taken === BATCH_EVENTS ? BUSY_DELAY_MS : IDLE_DELAY_MS);
  }

  /** Hands over everything that is queued now; events that arrive meanwhile wait for the next call. */
  #flush(): void {
    const kept = this.#tap?.stats().kept ?? 0;
    while (this.#handBatch() === BATCH_EVENTS && this.#delivered + this.#orphaned < kept);
  }

  /** Returns the number of events that it took from the queue. */
  #handBatch(): number {
    if (this.#tap === undefined) return 0;
    const { length, agentIds, keys, values, timesUs } = this.#tap.take(BATCH_EVENTS);
    const events: AgentEvent[] = [];
    let isFresh = false;
    for (let i = 0; i < length; i++) {
      let known = this.#directory.of(agentIds[i]!, keys[i]!);
      if (known === undefined && !isFresh) {
        this.#directory.update(this.#source!.snapshot().agents);
        isFresh = true;
        known = this.#directory.of(agentIds[i]!, keys[i]!);
      }
      if (known === undefined) {
        this.#orphaned++;
        continue;
      }
      const exact = values[i]!;
      events.push({ ...known, value: Number(exact), exact, timeMs: timesUs[i]! / 1000 });
    }
    this.#delivered += events.length;
    if (events.length > 0) this.#processor.take(events);
    return length;
  }

  #warnOfLoss(): void {
    if (this.#lost === 0) return;
    this.#log.warn(
      SUBJECT,
      'lost',
      'custom builders are too slow and missed events (nixl.builders.events); all other metrics are exact',
    );
  }
}
