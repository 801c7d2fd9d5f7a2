/** Runs builders on one source: with events from its queue, and gains from its snapshots. */
import type { Meter, Observable, ObservableResult } from '@opentelemetry/api';
import { METRIC_NIXL_BUILDERS_EVENTS } from '../../mapping/index.js';
import type { EventTap, RingSource } from '../../shm-bridge/index.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import type { AgentAttributes } from '../agents/agent-attributes.js';
import type { DiagOnce } from '../feed/diag-once.js';
import { EarlierTotals } from '../instruments/totals.js';
import { sum } from '../../exact.js';
import { EventDirectory } from './event-directory.js';
import { EventPump } from './event-pump.js';
import type { MetricProcessor } from './metric-processor.js';

const SUBJECT = 'builders';
const EVENTS = METRIC_NIXL_BUILDERS_EVENTS;

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
  #source: RingSource | undefined;
  #tap: EventTap | undefined;
  #pump: EventPump | undefined;
  /** Counts of earlier pumps, which the counter continues. */
  readonly #earlier: EarlierTotals;
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
    this.#startPump();
    this.#observePump();
  }

  attach(source: RingSource): void {
    this.#source = source;
    this.#startPump();
  }

  /** Hands builders everything that the snapshot holds. Called at a collect. */
  collect(snapshot: Snapshot): void {
    const processor = this.#processor;
    if (!processor.takesEvents && !processor.observes) return;
    this.#log.guard(SUBJECT, 'builders: collect', () => {
      this.#directory.update(snapshot.agents);
      this.#startPump(); // for builders that were added later
      this.#pump?.flush();
      this.#warnOfLoss();
      if (processor.observes) processor.observe(this.#directory.gains(snapshot.agents));
    });
  }

  /** Hands queued events to the builders, and leaves no timer, queue or callback behind. */
  detach(): void {
    this.#log.guard(SUBJECT, 'builders: flush', () => this.#pump?.flush());
    this.#log.guard(SUBJECT, 'builders: count', () => this.#keepCount());
    this.#pump?.stop();
    this.#log.guard(SUBJECT, 'builders: queue', () => this.#tap?.close());
    this.#observable?.removeCallback(this.#onObserve);
    this.#pump = this.#tap = this.#source = undefined;
  }

  #observePump(): void {
    if (this.#pump === undefined) return;
    this.#observable ??= this.#meter?.createObservableCounter(EVENTS, {
      unit: '{event}',
      description: 'Events for custom builders, by outcome: delivered or lost. Other metrics lose no events.',
    });
    this.#observable?.addCallback(this.#onObserve);
  }

  readonly #onObserve = (result: ObservableResult): void => {
    const earlier = this.#earlier.of(SUBJECT)?.get(EVENTS);
    for (const { outcome, count } of this.#pumped()) {
      result.observe(Number(sum(count, earlier?.get(outcome))), { outcome });
    }
  };

  #pumped(): { outcome: string; count: number }[] {
    const { delivered, lost } = this.#pump?.stats() ?? { delivered: 0, lost: 0 };
    return [
      { outcome: 'delivered', count: delivered },
      { outcome: 'lost', count: lost },
    ];
  }

  #keepCount(): void {
    for (const { outcome, count } of this.#pumped()) this.#earlier.add(SUBJECT, EVENTS, outcome, count);
  }

  #startPump(): void {
    const source = this.#source;
    const processor = this.#processor;
    if (source === undefined || this.#pump !== undefined || !processor.takesEvents || !processor.hasMeter) return;
    const tap = (this.#tap = source.eventTap ?? source.openEventTap());
    this.#pump = new EventPump({
      tap,
      directory: this.#directory,
      refresh: () => this.#directory.update(source.snapshot().agents),
      use: (events) => processor.take(events),
      onError: (error) => this.#log.failure(SUBJECT, 'builders: pump', error),
    });
    this.#pump.start();
    this.#observePump();
  }

  #warnOfLoss(): void {
    if ((this.#pump?.stats().lost ?? 0) === 0) return;
    this.#log.warn(
      SUBJECT,
      'lost',
      'custom builders are too slow and missed events (nixl.builders.events); all other metrics are exact',
    );
  }
}
