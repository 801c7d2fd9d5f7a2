/** Instruments of one meter in use: the batch callback, and the pump that feeds the histograms. */
import type { BatchObservableCallback, Meter } from '@opentelemetry/api';
import type { EventTap, RingSource, Snapshot, TypeBatch, TypeTapOptions } from '../../shm-bridge/index.js';
import { AgentRoster, pointAttributes, type RosterEntry } from '../agents/agent-roster.js';
import type { Settings } from '../../settings/settings.js';
import type { DiagOnce } from '../feed/diag-once.js';
import { DurationPump, type DurationStats, type Recorded } from './duration-pump.js';
import { createInstruments, type InstrumentSet, isNoop } from './instrument-set.js';
import { BuilderRun, type BuilderRunOptions } from '../builders/builder-run.js';
import { isInWords, type Needs, needsOf, tallyMetrics } from '../builders/metric-processor.js';
import type { MeterMemory } from './totals.js';
import { Observation } from './observation.js';
import type { SourceFeed } from '../feed/snapshot-feed.js';

const SUBJECT = 'instrumentation';
const REMEDY = 'give each reader a producer from instrumentation.metricProducer(), taken before the provider is built';
/** Bounds the memory for agents that left with queued durations: ids are never reused. */
const MAX_UNKNOWN_IDS = 1000;

interface RegistrationOptions extends Omit<BuilderRunOptions, 'earlier'> {
  readonly meter: Meter;
  readonly settings: Settings;
  readonly now: (() => number) | undefined;
  /** Memory that all registrations of the meter share. */
  readonly memory: MeterMemory;
}

/**
 * Made once per meter and settings. The SDK remembers series per meter, so the count of series must outlive disable() and
 * enable(). Totals are in the memory and outlive the settings, too.
 */
export class Registration {
  readonly noop: boolean;
  /** Tap for start(): a source that is opened with it misses no duration. */
  readonly tap: TypeTapOptions;
  readonly #log: DiagOnce;
  readonly #now: (() => number) | undefined;
  readonly #budgetMs: number;
  readonly #instruments: InstrumentSet;
  readonly #roster: AgentRoster;
  readonly #observation: Observation;
  readonly #builders: BuilderRun;
  readonly #needs: Needs;
  #feed: SourceFeed | undefined;
  #tap: EventTap<TypeBatch> | undefined;
  #pump: DurationPump | undefined;
  /** Ids of agents that a fresh snapshot did not have. */
  readonly #unknownIds = new Set<number>();

  constructor(options: RegistrationOptions) {
    const { meter, settings, processor, agentAttributes, log, memory } = options;
    const { naming, hostname, hasOwnMetrics, seriesLimit, source } = settings;
    this.#log = log;
    this.#now = options.now;
    this.#budgetMs = settings.durationBudgetMs;
    // Instruments have no histograms that are computed. Their series stay for ever, so none may have what is learned later.
    const metrics = tallyMetrics(settings).filter((metric) => isInWords(metric) && metric.isInfo !== true);
    this.#needs = needsOf(metrics);
    const instruments = (this.#instruments = createInstruments(meter, metrics, source!.tally));
    this.noop = isNoop(instruments);
    this.tap = { types: [...instruments.durations.keys()] };
    const onFold = (agent: string) =>
      log.warn(
        SUBJECT,
        'fold',
        `too many series for the SDK: agent ${agent} and further ones are reported together as "other"; ${REMEDY}`,
      );
    const common = { naming, hostname, metrics };
    const roster = (this.#roster = new AgentRoster({ ...common, seriesLimit, agentAttributes, onFold }));
    this.#builders = new BuilderRun({ processor, agentAttributes, log, earlier: memory.earlier });
    this.#observation = new Observation({ ...common, instruments, hasOwnMetrics, roster, memory });
  }

  start(feed: SourceFeed): void {
    this.#feed = feed;
    feed.join(this);
    this.#startPump(feed.source);
    this.#log.guard(SUBJECT, 'builders', () => {
      this.#builders.useMeter(this.#instruments.meter);
      this.#builders.attach(feed.source);
    });
    this.#instruments.meter.addBatchObservableCallback(this.#callback, this.#instruments.observables);
  }

  /**
   * Stops, and leaves no callback, tap or timer behind. Events in the rings count at the next collect, if there is one.
   * Returns the work for the time after the source has closed. Events drained between snapshot and close are lost.
   */
  stop(): () => void {
    // The SDK removes a callback only with the meter and observables with which it was added.
    this.#instruments.meter.removeBatchObservableCallback(this.#callback, this.#instruments.observables);
    this.#log.guard(SUBJECT, 'collect', () => this.#collect());
    this.#log.guard(SUBJECT, 'builders', () => this.#builders.detach());
    this.#log.guard(SUBJECT, 'pump', () => this.#pump?.flush());
    this.#pump?.stop();
    let durations: DurationStats | undefined;
    this.#log.guard(SUBJECT, 'tap', () => {
      durations = this.#pump?.stats();
      this.#tap?.close();
    });
    let last: Snapshot | undefined;
    this.#log.guard(SUBJECT, 'collect', () => (last = this.#feed?.peek()));
    this.#log.guard(SUBJECT, 'leave', () => this.#feed?.leave(this));
    this.#pump = this.#tap = this.#feed = undefined;
    return () => this.#log.guard(SUBJECT, 'collect', () => this.#settle(last, durations));
  }

  readonly #callback: BatchObservableCallback = (result) =>
    this.#log.guard(SUBJECT, 'collect', () => {
      const snapshot = this.#collect();
      if (snapshot !== undefined) this.#observation.observe(result, snapshot, this.#pump?.stats());
    });

  /** Drains, and hands durations and builders their events. */
  #collect(): Snapshot | undefined {
    const snapshot = this.#feed?.read(this, this.#needs);
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
    this.#log.guard(SUBJECT, 'tap', () => {
      const tap = (this.#tap = source.typeTap ?? source.openTypeTap(this.tap));
      this.#pump = new DurationPump({
        tap,
        record: (agentId, type, value) => this.#record(agentId, type, value),
        onSampling: (oneIn) =>
          this.#log.warn(
            SUBJECT,
            'sampling',
            `too many transfers for the main thread: the histograms record one duration in ${oneIn}, and their counts and sums are too low by that factor; ${REMEDY}, or raise durationBudgetMs`,
          ),
        onError: (error) => this.#log.failure(SUBJECT, 'pump', error),
        budgetMs: this.#budgetMs,
        now: this.#now,
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

  /** Finds an agent that appeared after the last collect, by one snapshot per new agent. */
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
