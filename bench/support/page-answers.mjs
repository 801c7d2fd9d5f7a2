/** Generates answers of serve for its live page: agents with new numbers each second, and ten minutes of history. */
import { pointsFor } from '../../dist/serve/history/agent-history.js';

const POINTS = 600;
const STATUSES = ['NIXL_ERR_BACKEND', 'NIXL_ERR_CANCELED'];
const HEAT_COLUMN_S = 5;
const START_MS = 1_800_000_000_000;

export class PageAnswers {
  /** Answers with the figures of all agents. */
  count = 0;
  #agents;
  #waiting = [];

  constructor(agents) {
    this.#agents = agents;
  }

  /** Waits for so many further answers. */
  asked(count) {
    return new Promise((resolve) => this.#waiting.push({ at: this.count + count, resolve }));
  }

  agents() {
    this.count++;
    for (const { resolve } of this.#waiting.filter(({ at }) => at <= this.count)) resolve();
    this.#waiting = this.#waiting.filter(({ at }) => at > this.count);
    const second = POINTS + this.count;
    return {
      api: 'nixl-otel/v1',
      version: '0.0.0',
      hostname: 'gpu-node-17',
      directories: ['/dev/shm/nixl'],
      startedMs: START_MS,
      takenMs: START_MS + second * 1000,
      errorStatuses: STATUSES,
      agents: Array.from({ length: this.#agents }, (_, id) => agentAt(id, second)),
      folded: 0,
      problems: [],
      problemCount: 0,
      ended: [],
      stateProblems: [],
      stateProblemCount: 0,
      failingExporters: [],
      collector: { drainIntervalMs: 20, sinceTickMs: 5 },
      recentTransferTimeUs: percentiles(second),
      recentPostTimeUs: percentiles(second / 9),
    };
  }

  /** The first answer has ten minutes, later ones have what is new since the `from` in the address. */
  history(address) {
    const fromMs = Number(new URL(address).searchParams.get('from') ?? 0);
    const second = POINTS + this.count;
    const agentStep = POINTS / pointsFor(this.#agents);
    const [timesMs, agentTimesMs, heatMs] = [1, agentStep, HEAT_COLUMN_S].map((step) =>
      Array.from({ length: POINTS / step }, (_, i) => START_MS + (Math.floor(second / step) - i) * step * 1000)
        .reverse()
        .filter((ms) => ms > fromMs),
    );
    const column = (scale, phase = 0) => timesMs.map((ms) => scale * wave(ms / 1000, phase));
    const counts = (width, offset) => ({
      scale: 2,
      lowest: -1,
      timesMs: heatMs,
      offsets: heatMs.map(() => offset),
      counts: heatMs.map((ms) => Array.from({ length: width }, (_, i) => Math.round(1000 * wave(ms / 1000, i)))),
    });
    return {
      api: 'nixl-otel/v1',
      startedMs: START_MS,
      takenMs: START_MS + second * 1000,
      timesMs,
      fleet: {
        ...{ tx: column(3e9), rx: column(2e9, 1), requests: column(4e4), errors: { [STATUSES[0]]: column(3) } },
        ...{ full: column(0), dropped: column(0), fill: column(0.4), memory: column(8e10) },
        ...{ p50: column(40), p90: column(400, 1), p99: column(4000, 2) },
      },
      transferTimesUs: counts(40, 16),
      txSizes: { ...counts(8, 12), scale: 0 },
      rxSizes: { ...counts(8, 12), scale: 0 },
      events: [],
      agentTimesMs,
      agents: Array.from({ length: this.#agents }, (_, id) => {
        const own = (scale) => agentTimesMs.map((ms) => scale * wave(ms / 1000, id));
        return {
          ...{ id, tx: own(1e8), rx: own(5e7), requests: own(200), errors: own(0), full: own(0), fill: own(0.4) },
          ...{ p50: own(40), p90: own(400), p99: own(4000) },
        };
      }),
    };
  }
}

/** Between 0.5 and 1.5. */
function wave(second, phase) {
  return 1 + Math.sin(second / 7 + phase) / 2;
}

function percentiles(second) {
  return { p50: 40 * wave(second, 0), p90: 400 * wave(second, 1), p99: 4000 * wave(second, 2), max: 9000 };
}

function agentAt(id, second) {
  const done = Math.round(second * 200 + 700 * wave(second, id));
  const name = `prefill-llama70b-tp${id}`;
  return {
    ...{ id, agent: name, name, directory: '/dev/shm/nixl', life: 'alive', pid: 1000 + id, startTimeMs: START_MS },
    ...{ idleMs: 20, txBytes: done * 524_288, rxBytes: done * 262_144, txRequests: done, rxRequests: done },
    ...{ errors: STATUSES.map(() => (id % 50 === 7 ? second : 0)), memoryBytes: 2 ** 30, memoryApproximate: false },
    ...{
      registeredBytes: 2 ** 31,
      dropped: 0,
      foundFull: 0,
      foundFullMs: 0,
      capacity: 4096,
      fill: wave(second, id) / 3,
    },
    ...{ restarts: 0, suspect: false, events: done * 4, wireVersion: 5, troubles: {}, gpus: String(id % 8) },
    ...{ recentTransferTimeUs: percentiles(second + id), recentPostTimeUs: percentiles(second / 9 + id) },
  };
}
