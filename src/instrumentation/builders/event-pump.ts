/** Hands the raw events of a source to builders in batches, so that no turn of the event loop gets long. */
import type { EventTap } from '../../shm-bridge/index.js';
import type { EventDirectory } from './event-directory.js';
import type { AgentEvent } from '../../settings/metric-builder.js';

const BATCH_EVENTS = 1024;
/** Time after which the timer starts no further batch. A batch takes as long as the builders do. */
const SLICE_MS = 5;
const BUSY_DELAY_MS = 10;
const IDLE_DELAY_MS = 100;

export interface EventPumpOptions {
  readonly tap: EventTap;
  readonly directory: EventDirectory;
  /** Updates the directory. */
  readonly refresh: () => void;
  readonly use: (events: readonly AgentEvent[]) => void;
  readonly onError: (error: unknown) => void;
}

export interface EventPumpStats {
  readonly delivered: number;
  /** Queue full, or of an agent that was gone. */
  readonly lost: number;
}

export class EventPump {
  readonly #options: EventPumpOptions;
  #timer: NodeJS.Timeout | undefined;
  #delivered = 0;
  #orphaned = 0;

  constructor(options: EventPumpOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer ??= this.#later(BUSY_DELAY_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Hands over everything that is queued now; events that arrive meanwhile wait for the next call. */
  flush(): void {
    const { kept } = this.#options.tap.stats();
    for (;;) {
      const taken = this.#batch();
      if (taken < BATCH_EVENTS || this.#delivered + this.#orphaned >= kept) return;
    }
  }

  stats(): EventPumpStats {
    return { delivered: this.#delivered, lost: this.#options.tap.stats().overflowed + this.#orphaned };
  }

  /** Unref'd: telemetry must not keep an idle process alive. */
  #later(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#onTimer(), delayMs).unref();
  }

  #onTimer(): void {
    let taken = BATCH_EVENTS;
    try {
      const end = performance.now() + SLICE_MS;
      while (taken === BATCH_EVENTS && performance.now() < end) taken = this.#batch();
    } catch (error) {
      taken = 0;
      this.#options.onError(error);
    }
    this.#timer = this.#later(taken === BATCH_EVENTS ? BUSY_DELAY_MS : IDLE_DELAY_MS);
  }

  #batch(): number {
    const { tap, directory, refresh, use } = this.#options;
    const { length, agentIds, keys, values, timesUs } = tap.take(BATCH_EVENTS);
    const events: AgentEvent[] = [];
    let fresh = false;
    for (let i = 0; i < length; i++) {
      let known = directory.of(agentIds[i]!, keys[i]!);
      if (known === undefined && !fresh) {
        refresh();
        fresh = true;
        known = directory.of(agentIds[i]!, keys[i]!);
      }
      if (known === undefined) {
        this.#orphaned++;
        continue;
      }
      const exact = values[i]!;
      events.push({ ...known, value: Number(exact), exact, timeMs: timesUs[i]! / 1000 });
    }
    this.#delivered += events.length;
    if (events.length > 0) use(events);
    return length;
  }
}
