/** Plays a world on a stage: the transfers of its agents become the events that NIXL 1.5.1 writes about them. */
import type { AgentRow, SeenEvent, SeenTransfer } from '../world/shapes.js';
import { FLUSH_MS, type Stage } from './stage.js';

/** A fleet that began before this time, which the judge sees from its first transfer on. */
export const BEGAN_MS = Date.UTC(2026, 0, 1);
const REGISTERED_BYTES = 2 ** 30;

interface Source {
  /** Returns what was seen since the last call. */
  advance(untilMs: number): readonly (SeenTransfer | SeenEvent)[];
}

/** Calls `sample` each `sampleMs` of virtual time. */
export function play(
  world: readonly Pick<AgentRow, 'name' | 'fromS' | 'endsS'>[],
  running: Source,
  stage: Stage,
  seconds: number,
  sampleMs: number,
  sample: () => void,
): void {
  for (let atMs = 0; atMs <= seconds * 1000; atMs += FLUSH_MS) {
    for (const { name, fromS = 0 } of world) {
      if (stage.has(name) || fromS * 1000 > atMs) continue;
      stage.begin(name);
      stage.write(name, 'agent_memory_registered', REGISTERED_BYTES);
    }
    for (const seen of running.advance(atMs)) {
      if ('event' in seen) stage.write(seen.agent, seen.event, seen.value);
      else write(stage, seen);
    }
    stage.flush(BEGAN_MS + atMs);
    for (const { name, endsS = Infinity } of world) if (endsS * 1000 <= atMs) stage.end(name);
    if (atMs % sampleMs === 0) sample();
  }
}

/** Events of a transfer, in the order in which NIXL 1.5.1 writes them. */
function write(stage: Stage, { agent, postUs, timeUs, bytes, direction, lost }: SeenTransfer): void {
  if (lost) return stage.refuse(agent);
  stage.write(agent, 'agent_xfer_post_time', postUs);
  stage.write(agent, 'agent_xfer_time', timeUs);
  stage.write(agent, `agent_${direction}_bytes`, bytes);
  stage.write(agent, `agent_${direction}_requests_num`, 1);
}
