/** What serve says about the agents of a stage: its own samples, answers and verdicts, one each few seconds of virtual time. */
import { agentsSummary } from '../../../src/serve/api/agents.js';
import { Recorder } from '../../../src/serve/history/recorder.js';
import type { Snapshot } from '../../../src/shm-bridge/types.js';
import { verdictInput } from '../../../src/view/answers/verdict-input.js';
import { IncidentLog } from '../../../src/view/incidents/incident-log.js';
import type { Maintenance } from '../../../src/view/verdict/types.js';
import { verdictOf } from '../../../src/view/verdict/verdict.js';
import type { Said } from './said.js';
import { type JudgedSample, SlownessWatch, toSaid } from './slowness.js';

/** Time between two samples of serve. */
export const SAMPLE_MS = 4000;
const FACTS = { version: '0', hostname: 'host', directories: ['/rings'], globs: [] };

interface WatchOptions {
  /** Takes what the judge of slowness is given. */
  readonly onJudged?: ((sample: JudgedSample) => void) | undefined;
  readonly maintenance?: readonly Maintenance[] | undefined;
}

export class Watch {
  readonly log = new IncidentLog();
  readonly #recorder: Recorder;
  readonly #slowness = new SlownessWatch();
  readonly #startedMs: number;
  readonly #options: WatchOptions;

  constructor(snapshot: () => Snapshot, startedMs: number, options: WatchOptions = {}) {
    this.#startedMs = startedMs;
    this.#options = options;
    this.#recorder = new Recorder({
      peek: snapshot,
      peekInSlices: () => Promise.resolve(snapshot()),
      customErrors: [],
      beganMs: startedMs,
      onFailure: (reason) => {
        throw new Error(reason);
      },
      later: (work) => work(),
    });
    this.#recorder.close(); // ends its timer: samples are taken in virtual time
  }

  /** Takes a sample, and returns what is said at this time. */
  sample(): Said[] {
    const sample = this.#recorder.sample(-Infinity)!;
    const { takenMs, agents } = sample.snapshot;
    const judged = {
      takenMs,
      agents: agents.map(({ id, agent, timeBySize }) => ({ id, name: agent, place: agent, timeBySize })),
    };
    this.#options.onJudged?.(judged);
    const answer = agentsSummary({
      facts: { ...FACTS, startedMs: this.#startedMs },
      recorder: this.#recorder,
      sample,
      failingExporters: [],
      judge: this.#slowness.sample(judged),
      maintenance: this.#options.maintenance ?? [],
      ways: { of: () => undefined, ports: [] },
      engineOf: () => undefined,
      gpusOf: () => undefined,
    });
    const { findings } = verdictOf(verdictInput(answer, { name: 'host' }));
    this.log.take(takenMs, findings);
    return toSaid(findings);
  }
}
