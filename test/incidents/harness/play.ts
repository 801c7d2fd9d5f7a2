/** Plays a world on a stage: the transfers of its agents become the events that NIXL 1.5.1 writes about them. */
import type { ScriptedAgent } from '../world/script.js';
import type { SeenEvent, SeenMark, SeenTransfer } from '../world/shapes.js';
import { FLUSH_MS, type Stage } from './stage.js';

/** A fleet that began before this time, which the judge sees from its first transfer on. */
export const BEGAN_MS = Date.UTC(2026, 0, 1);
const REGISTERED_BYTES = 2 ** 30;

/** The clock of the host is set at this time, by so many seconds. */
export interface ClockStep {
  readonly atS: number;
  readonly byS: number;
}

/** A time in which the collector drains nothing. */
export interface Stall {
  readonly fromS: number;
  readonly untilS: number;
}

interface Source {
  /** Returns what was seen since the last call. */
  advance(untilMs: number): readonly (SeenTransfer | SeenEvent | SeenMark)[];
}

interface Times {
  readonly seconds: number;
  readonly clock?: ClockStep | undefined;
  readonly stall?: Stall | undefined;
}

/** Calls `sample` each `sampleMs` of virtual time. Rows of one name are lives that follow each other in one ring. */
export function play(
  world: readonly Pick<ScriptedAgent, 'name' | 'fromS' | 'endsS' | 'flushS'>[],
  running: Source,
  stage: Stage,
  { seconds, clock, stall }: Times,
  sampleMs: number,
  sample: (atMs: number) => void,
): void {
  const toBegin = new Set(world);
  const toEnd = new Set(world.filter(({ endsS }) => endsS !== undefined));
  for (let atMs = 0; atMs <= seconds * 1000; atMs += FLUSH_MS) {
    const clockMs = BEGAN_MS + atMs + (clock !== undefined && atMs >= clock.atS * 1000 ? clock.byS * 1000 : 0);
    stage.setTime(clockMs);
    for (const row of toBegin) {
      const { name, fromS = 0, flushS } = row;
      if (fromS * 1000 > atMs) continue;
      toBegin.delete(row);
      stage.begin(name, flushS);
      stage.write(name, 'agent_memory_registered', REGISTERED_BYTES);
    }
    for (const seen of running.advance(atMs)) {
      if ('mark' in seen) stage.mark(seen.agent, seen.mark);
      else if ('event' in seen) stage.write(seen.agent, seen.event, seen.value);
      else write(stage, seen);
    }
    const isStalled = stall !== undefined && atMs >= stall.fromS * 1000 && atMs < stall.untilS * 1000;
    if (isStalled) stage.stall(clockMs);
    else stage.flush(clockMs);
    for (const row of toEnd) {
      if (row.endsS! * 1000 > atMs) continue;
      toEnd.delete(row);
      stage.end(row.name);
    }
    if (atMs % sampleMs === 0) sample(atMs);
  }
}

/** Events of a transfer, in the order in which NIXL 1.5.1 writes them. */
function write(stage: Stage, { agent, postUs, timeUs, bytes, direction, lost }: SeenTransfer): void {
  if (lost) return stage.mark(agent, 'full');
  stage.write(agent, 'agent_xfer_post_time', postUs);
  stage.write(agent, 'agent_xfer_time', timeUs);
  stage.write(agent, `agent_${direction}_bytes`, bytes);
  stage.write(agent, `agent_${direction}_requests_num`, 1);
}
