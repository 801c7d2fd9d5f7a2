/** Builders at work on one source: events from its queue, gains from its snapshots. */
import type { Meter, Observable, ObservableResult } from '@opentelemetry/api';
import type { EventQueue, RingSource } from '../../shm-bridge/index.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import type { AgentAttributes } from '../agents/agent-attributes.js';
import type { DiagOnce } from '../diag-once.js';
import { EventDirectory } from './event-directory.js';
import { EventPump, type EventPumpStats } from './event-pump.js';
import type { MetricProcessor } from './metric-processor.js';

const SUBJECT = 'builders';
const DELIVERED = { outcome: 'delivered' };
const LOST = { outcome: 'lost' };

export interface BuilderRunOptions {
  readonly processor: MetricProcessor;
  readonly agentAttributes: AgentAttributes;
  readonly said: DiagOnce;
}

export class BuilderRun {
  readonly #processor: MetricProcessor;
  readonly #said: DiagOnce;
  readonly #directory: EventDirectory;
  #source: RingSource | undefined;
  #queue: EventQueue | undefined;
  #pump: EventPump | undefined;
  /** Of pumps that are gone: the counter goes on where it was. */
  #pumpedBefore: EventPumpStats = { delivered: 0, lost: 0 };
  #meter: Meter | undefined;
  #observable: Observable | undefined;

  constructor({ processor, agentAttributes, said }: BuilderRunOptions) {
    this.#processor = processor;
    this.#said = said;
    this.#directory = new EventDirectory(agentAttributes);
  }

  /** Builders count into this meter from now on. */
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

  /** For a collect: builders get all that the snapshot holds. */
  collect(snapshot: Snapshot): void {
    const processor = this.#processor;
    if (!processor.takesEvents && !processor.observes) return;
    this.#said.guard(SUBJECT, 'builders: collect', () => {
      this.#directory.update(snapshot.agents);
      this.#startPump(); // for builders that were added later
      this.#pump?.flush();
      this.#sayLoss();
      if (processor.observes) processor.observe(this.#directory.gains(snapshot.agents));
    });
  }

  /** Leaves no timer, queue or callback behind; what was queued goes to the builders. */
  detach(): void {
    this.#said.guard(SUBJECT, 'builders: flush', () => this.#pump?.flush());
    this.#said.guard(SUBJECT, 'builders: count', () => (this.#pumpedBefore = this.#pumped()));
    this.#pump?.stop();
    this.#said.guard(SUBJECT, 'builders: queue', () => this.#queue?.close());
    this.#observable?.removeCallback(this.#onObserve);
    this.#pump = this.#queue = this.#source = undefined;
  }

  #observePump(): void {
    if (this.#pump === undefined) return;
    this.#observable ??= this.#meter?.createObservableCounter('nixl.builders.events', {
      unit: '{event}',
      description: 'Events that went to builders of your own, and those that were lost on the way; sums miss none.',
    });
    this.#observable?.addCallback(this.#onObserve);
  }

  readonly #onObserve = (result: ObservableResult): void => {
    const { delivered, lost } = this.#pumped();
    result.observe(delivered, DELIVERED);
    result.observe(lost, LOST);
  };

  #pumped(): EventPumpStats {
    const before = this.#pumpedBefore;
    const now = this.#pump?.stats() ?? { delivered: 0, lost: 0 };
    return { delivered: before.delivered + now.delivered, lost: before.lost + now.lost };
  }

  #startPump(): void {
    const source = this.#source;
    const processor = this.#processor;
    if (source === undefined || this.#pump !== undefined || !processor.takesEvents || !processor.hasMeter) return;
    const queue = (this.#queue = source.events ?? source.openEvents());
    this.#pump = new EventPump({
      queue,
      directory: this.#directory,
      refresh: () => this.#directory.update(source.snapshot().agents),
      use: (events) => processor.take(events),
      onError: (error) => this.#said.failure(SUBJECT, 'builders: pump', error),
    });
    this.#pump.start();
    this.#observePump();
  }

  #sayLoss(): void {
    if ((this.#pump?.stats().lost ?? 0) === 0) return;
    this.#said.warn(
      SUBJECT,
      'lost',
      'builders of your own are too slow: events passed them by (nixl.builders.events); all other metrics are exact',
    );
  }
}
