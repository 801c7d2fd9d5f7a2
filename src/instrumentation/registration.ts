/** The instruments of one meter at work: the batch callback, and the pump that feeds the histograms. */
import type { BatchObservableCallback, Meter } from '@opentelemetry/api';
import { metricsOf } from '../mapping/index.js';
import type { EventTap, RingSource, TypeBatch, TypeTapOptions } from '../shm-bridge/index.js';
import type { Snapshot } from '../shm-bridge/types.js';
import type { AgentAttributes } from './agents/agent-attributes.js';
import { AgentRoster, pointAttributes, type RosterEntry } from './agents/agent-roster.js';
import type { Settings } from '../settings/settings.js';
import type { DiagOnce } from './diag-once.js';
import { DurationPump, type DurationStats, type Recorded } from './duration-pump.js';
import { createInstruments, type InstrumentSet, isNoop } from './instrument-set.js';
import { BuilderRun } from './builders/builder-run.js';
import { type MetricProcessor, tallyBuilders } from './builders/metric-processor.js';
import type { MeterMemory } from './meter-memory.js';
import { Observation } from './observation.js';
import type { SourceFeed } from './snapshot-feed.js';

const SUBJECT = 'instrumentation';
const REMEDY = 'give each reader a producer from instrumentation.metricProducer(), taken before the provider is built';
/** Ids are never used again, so this only bounds the memory for agents that left with durations in the queue. */
const MAX_UNKNOWN_IDS = 1000;

export interface RegistrationOptions {
  readonly meter: Meter;
  readonly settings: Settings;
  readonly processor: MetricProcessor;
  readonly agentAttributes: AgentAttributes;
  readonly said: DiagOnce;
  readonly now: (() => number) | undefined;
  /** One for all registrations of the meter. */
  readonly memory: MeterMemory;
}

/**
 * Made once per meter and settings: what the SDK remembers of series it remembers per meter, so the count of series must
 * outlive disable() and enable(). Totals are in the memory, and outlive the settings, too.
 */
export class Registration {
  readonly noop: boolean;
  /** What start() taps: a source that is opened with this tap misses no duration. */
  readonly tap: TypeTapOptions;
  readonly #said: DiagOnce;
  readonly #now: (() => number) | undefined;
  readonly #budgetMs: number;
  readonly #instruments: InstrumentSet;
  readonly #roster: AgentRoster;
  readonly #observation: Observation;
  readonly #builders: BuilderRun;
  #feed: SourceFeed | undefined;
  #tap: EventTap<TypeBatch> | undefined;
  #pump: DurationPump | undefined;
  /** Agents that a snapshot was already searched for, in vain. */
  readonly #unknownIds = new Set<number>();

  constructor(options: RegistrationOptions) {
    const { meter, settings, said, memory } = options;
    const { naming, hostname, seriesLimit, source, events, customEvents, nixlRelease: release } = settings;
    this.#said = said;
    this.#now = options.now;
    this.#budgetMs = settings.durationBudgetMs;
    const builders = tallyBuilders(settings.builders);
    const metrics = metricsOf(naming, { events, customEvents, builders, release });
    const instruments = (this.#instruments = createInstruments(meter, metrics, source!.tally));
    this.noop = isNoop(instruments);
    this.tap = { types: [...instruments.durations.keys()] };
    const onFold = (agent: string) =>
      said.warn(
        SUBJECT,
        'fold',
        `too many series for the SDK: agent ${agent} and further ones are reported together as "other"; ${REMEDY}`,
      );
    const { agentAttributes } = options;
    const common = { naming, hostname, metrics };
    const roster = (this.#roster = new AgentRoster({ ...common, seriesLimit, agentAttributes, onFold }));
    this.#builders = new BuilderRun({
      processor: options.processor,
      agentAttributes,
      said,
      earlier: memory.earlier,
    });
    this.#observation = new Observation({ ...common, instruments, roster, memory });
  }

  start(feed: SourceFeed): void {
    this.#feed = feed;
    feed.join(this);
    this.#startPump(feed.source);
    this.#said.guard(SUBJECT, 'builders', () => {
      this.#builders.useMeter(this.#instruments.meter);
      this.#builders.attach(feed.source);
    });
    this.#instruments.meter.addBatchObservableCallback(this.#callback, this.#instruments.observables);
  }

  /**
   * Leaves no callback, tap or timer behind. What the rings hold still counts: at the next collect, if there is one.
   * Returns what is left to do when the source is closed: what is drained between the last look and that is lost.
   */
  stop(): () => void {
    // From the meter and with the very observables that it was added with: any others would leave it in place.
    this.#instruments.meter.removeBatchObservableCallback(this.#callback, this.#instruments.observables);
    this.#said.guard(SUBJECT, 'collect', () => this.#takeIn());
    this.#said.guard(SUBJECT, 'builders', () => this.#builders.detach());
    this.#said.guard(SUBJECT, 'pump', () => this.#pump?.flush());
    this.#pump?.stop();
    let durations: DurationStats | undefined;
    this.#said.guard(SUBJECT, 'tap', () => {
      durations = this.#pump?.stats();
      this.#tap?.close();
    });
    let last: Snapshot | undefined;
    this.#said.guard(SUBJECT, 'collect', () => (last = this.#feed?.look()));
    this.#said.guard(SUBJECT, 'leave', () => this.#feed?.leave(this));
    this.#pump = this.#tap = this.#feed = undefined;
    return () => this.#said.guard(SUBJECT, 'collect', () => this.#settle(last, durations));
  }

  readonly #callback: BatchObservableCallback = (result) =>
    this.#said.guard(SUBJECT, 'collect', () => {
      const snapshot = this.#takeIn();
      if (snapshot !== undefined) this.#observation.observe(result, snapshot, this.#pump?.stats());
    });

  /** Drains; durations and builders get theirs. */
  #takeIn(): Snapshot | undefined {
    const snapshot = this.#feed?.read(this);
    if (snapshot === undefined) return undefined;
    this.#roster.refresh(snapshot);
    this.#pump?.flush();
    this.#builders.collect(snapshot);
    return snapshot;
  }

  #settle(snapshot: Snapshot | undefined, durations: DurationStats | undefined): void {
    if (snapshot === undefined) return;
    this.#roster.refresh(snapshot);
    this.#observation.end(snapshot, durations);
  }

  #startPump(source: RingSource): void {
    this.#said.guard(SUBJECT, 'tap', () => {
      const tap = (this.#tap = source.typeTap ?? source.openTypeTap(this.tap));
      this.#pump = new DurationPump({
        tap,
        record: (agentId, type, value) => this.#record(agentId, type, value),
        onSampling: (oneIn) =>
          this.#said.warn(
            SUBJECT,
            'sampling',
            `too many transfers for the main thread: one duration in ${oneIn} reaches the histograms, whose counts and sums are too low by that; ${REMEDY}, or raise durationBudgetMs`,
          ),
        onError: (error) => this.#said.failure(SUBJECT, 'pump', error),
        budgetMs: this.#budgetMs,
        ...(this.#now === undefined ? {} : { now: this.#now }),
      });
      this.#pump.start();
    });
  }

  #record(agentId: number, type: number, value: number): Recorded {
    const instrument = this.#instruments.durations.get(type);
    if (instrument === undefined) return 'unknown';
    const entry = this.#roster.get(agentId) ?? this.#lookUp(agentId);
    if (entry === undefined || entry === 'later') return entry ?? 'unknown';
    instrument.histogram.record(value / instrument.divisor, pointAttributes(this.#roster, entry, instrument.metric, 0));
    return 'recorded';
  }

  /** An agent that came after the last collect: one look at a snapshot per new agent. */
  #lookUp(agentId: number): RosterEntry | 'later' | undefined {
    const source = this.#feed?.source;
    if (source === undefined || this.#unknownIds.has(agentId)) return undefined;
    this.#roster.refresh(source.snapshot());
    const entry = this.#roster.get(agentId);
    if (entry !== undefined) return entry;
    if (this.#roster.unsettled(agentId)) return 'later';
    if (this.#unknownIds.size >= MAX_UNKNOWN_IDS) this.#unknownIds.clear();
    this.#unknownIds.add(agentId);
    return undefined;
  }
}
