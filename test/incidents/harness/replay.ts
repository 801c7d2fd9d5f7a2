/** Replays a trace of real agents: its events into rings at their times, its lives, and what serve says meanwhile. */
import type { Incident } from '../../../src/view/incidents/incident.js';
import { BEGAN_MS } from './play.js';
import { Stage } from './stage.js';
import { SAMPLE_MS, Watch } from './watch.js';

/** A line of a trace: an event, the end of an agent, or a mark, which says what begins. `t`: milliseconds. */
export interface TraceLine {
  readonly t: number;
  readonly agent?: string;
  readonly event?: string;
  readonly value?: number;
  readonly life?: string;
  readonly mark?: string;
}

/** Lines of one time are one flush of their agents. Nothing follows from the silence after the last line. */
export function replay(lines: Iterable<TraceLine>): Incident[] {
  const stage = new Stage(BEGAN_MS);
  let watch: Watch | undefined;
  let firstMs: number | undefined;
  let sampledMs = -SAMPLE_MS;
  let lastMs = 0;
  const sampleAt = (ms: number): void => {
    stage.flush(BEGAN_MS + ms);
    watch ??= new Watch(() => stage.snapshot(), BEGAN_MS);
    watch.sample();
    sampledMs = ms;
  };
  try {
    for (const line of lines) {
      firstMs ??= line.t;
      const atMs = line.t - firstMs;
      if (atMs !== lastMs) stage.flush(BEGAN_MS + lastMs);
      while (sampledMs + SAMPLE_MS < atMs) sampleAt(sampledMs + SAMPLE_MS);
      lastMs = atMs;
      take(stage, line, BEGAN_MS + atMs);
    }
    sampleAt(lastMs);
    return watch!.log.incidents.reverse().map(sinceFirstLine);
  } finally {
    stage.close();
  }
}

function take(stage: Stage, { agent, event, value, life }: TraceLine, nowMs: number): void {
  if (agent === undefined) return;
  stage.setTime(nowMs);
  if (life === 'ended') return stage.end(agent);
  if (!stage.isAlive(agent)) stage.begin(agent);
  if (event !== undefined && value !== undefined) stage.write(agent, event, value);
}

function sinceFirstLine(incident: Incident): Incident {
  const { beginMs, saidMs, endMs } = incident;
  const ends = endMs === undefined ? {} : { endMs: endMs - BEGAN_MS };
  return { ...incident, beginMs: beginMs - BEGAN_MS, saidMs: saidMs - BEGAN_MS, ...ends };
}
