/** Runs a labelled case through rings, collector and serve. */
import type { Case } from '../cases.js';
import { RunningWorld } from '../world/run-world.js';
import { Script } from '../world/script.js';
import { BEGAN_MS, play } from './play.js';
import { type Spell, Spells } from './said.js';
import type { JudgedSample } from './slowness.js';
import { Stage } from './stage.js';
import { SAMPLE_MS, Watch } from './watch.js';

export const SEED = 45;

interface RunOptions {
  readonly seed?: number | undefined;
  /** Takes what the judge of slowness is given. */
  readonly onJudged?: ((sample: JudgedSample) => void) | undefined;
}

export function runCase(
  { name, world, script, faults, seconds, clock, stall, maintenance }: Case,
  options: RunOptions = {},
): Spell[] {
  const { seed = SEED, onJudged } = options;
  const stage = new Stage(BEGAN_MS);
  try {
    const announced = maintenance?.map(({ fromS, untilS }) => {
      return { beginMs: BEGAN_MS + 1000 * fromS, endMs: BEGAN_MS + 1000 * untilS };
    });
    const watch = new Watch(() => stage.snapshot(), BEGAN_MS, { onJudged, maintenance: announced });
    const spells = new Spells(BEGAN_MS);
    const running =
      script === undefined ? new RunningWorld(world, faults, seed, seconds) : new Script(script, seed, seconds);
    play(script ?? world, running, stage, { seconds, clock, stall }, SAMPLE_MS, (atMs) =>
      spells.take(BEGAN_MS + atMs, watch.sample()),
    );
    return spells.all;
  } catch (error) {
    throw new Error(`the case ${name} cannot be run`, { cause: error });
  } finally {
    stage.close();
  }
}
