/** The file with the history: the charts of the live page outlive a restart of serve, with a mark where nothing was seen. */
import { isKeptHistory, type AgentPast, type KeptHistory } from '../history/kept-history.js';
import type { HistorySample, Recorder } from '../history/recorder.js';
import { KeptFile } from '../state/kept-file.js';
import type { StatePlace } from '../state/state-place.js';
import { agentColumns, fleetAnswer } from './history.js';

const FILE = { name: 'history.json', version: 1 } as const;
/** 256 agents have at most a megabyte. */
const MOST_AGENTS = 256;
const MOST_BYTES = 2 * 2 ** 20;
/** A serve that is killed leaves a gap of at most this time, and of half its age. */
const WRITE_EVERY_MS = 30_000;

export class HistoryFile {
  readonly #file: KeptFile<KeptHistory>;
  readonly #recorder: () => Recorder;
  #beganMs = 0;
  #writtenMs: number | undefined;
  #sample: HistorySample | undefined;

  constructor(place: StatePlace, recorder: () => Recorder) {
    this.#file = new KeptFile({ ...FILE, mostBytes: MOST_BYTES, isValue: isKeptHistory, ...place });
    this.#recorder = recorder;
  }

  /** Restores at the first sample, and writes now and then. Without an agent there is nothing to keep. */
  take(sample: HistorySample): void {
    const takenMs = Math.floor(sample.snapshot.takenMs);
    if (this.#writtenMs === undefined) {
      const kept = this.#file.read();
      if (kept !== undefined) this.#recorder().restore(kept, sample);
      this.#beganMs = this.#writtenMs = takenMs;
    }
    if (sample.agents.length > 0 || this.#sample !== undefined) this.#sample = sample;
    const sinceMs = Math.abs(takenMs - this.#writtenMs);
    if (sinceMs >= Math.min(WRITE_EVERY_MS, Math.abs(takenMs - this.#beganMs) / 2)) this.write();
  }

  write(): void {
    if (this.#sample === undefined) return;
    const keptMs = Math.floor(this.#sample.snapshot.takenMs);
    this.#writtenMs = keptMs;
    this.#file.write(keptHistory(this.#recorder(), this.#sample, keptMs));
  }
}

function keptHistory(recorder: Recorder, { agents }: HistorySample, keptMs: number): KeptHistory {
  const question = { fromMs: 0, startedMs: 0, takenMs: keptMs };
  const {
    timesMs,
    fleet,
    transferTimesUs,
    txSizes,
    rxSizes,
    events,
    blindSpans = [],
  } = fleetAnswer(recorder, question);
  const points = recorder.record.agents.after(0);
  const kept = agents.slice(0, MOST_AGENTS).flatMap(({ id, name }): AgentPast[] => {
    const row = points.rows.get(id);
    return row === undefined ? [] : [{ name, ...agentColumns(id, row) }];
  });
  const ofFleet = { timesMs, fleet, transferTimesUs, txSizes, rxSizes, events, blindSpans };
  return { keptMs, ...ofFleet, agentTimesMs: points.timesMs, agents: kept };
}
