/** Runs cases that the parent process sends, and sends their scores back. */
import { SLOWNESS_KINDS } from '../../../src/serve/incidents/finding-counts.js';
import type { SlowFact } from '../../../src/view/slowness/slow-facts.js';
import type { Case } from '../cases.js';
import { caseNamed } from './case-named.js';
import { BEGAN_MS } from './play.js';
import { isRecorded, Recording, samplesIn } from './recordings.js';
import { runCase, SEED } from './run-case.js';
import { type Spell, Spells } from './said.js';
import { scoreOf } from './score.js';
import { saidOf, SlownessWatch } from './slowness.js';

interface Task {
  readonly name: string;
  readonly seed?: number;
  /** Folder of recordings: one that exists replaces the run, and only the judge of slowness runs. */
  readonly recordings?: string;
  /** Prints the facts of the judge. */
  readonly dump?: boolean;
}

process.on('message', ({ name, seed = SEED, recordings, dump = false }: Task) => {
  const beganMs = performance.now();
  const one = caseNamed(name);
  const key = seed === SEED ? name : `${name}-${seed}`;
  // A recording has the times of the host's clock, labels those of the case.
  const isReplay = recordings !== undefined && one.clock === undefined && isRecorded(recordings, key);
  const spells = isReplay ? replayed(samplesIn(recordings, key), dump) : recorded(recordings, key);
  process.send!({
    score: scoreOf(isReplay ? judgedAlone(one) : one, spells),
    spells,
    ms: performance.now() - beganMs,
  });

  function recorded(folder: string | undefined, file: string): Spell[] {
    if (folder === undefined) return runCase(one, { seed });
    const recording = new Recording();
    const said = runCase(one, { seed, onJudged: (sample) => recording.add(sample) });
    recording.write(folder, file);
    return dump ? replayed(samplesIn(folder, file), true) : said;
  }
});
// Ends when the parent does.
process.on('disconnect', () => process.exit());

/** Returns the case as the judge of slowness can meet it, which says nothing of what else happens. */
function judgedAlone(one: Case): Case {
  const isJudged = ({ kind }: { readonly kind: string }): boolean => SLOWNESS_KINDS.includes(kind);
  return { ...one, alarms: one.alarms.filter(isJudged), notes: one.notes.filter(isJudged) };
}

function replayed(samples: Iterable<Parameters<SlownessWatch['sample']>[0]>, dump: boolean): Spell[] {
  const watch = new SlownessWatch();
  const spells = new Spells(BEGAN_MS);
  let last = '';
  for (const sample of samples) {
    const { facts } = watch.sample(sample);
    spells.take(sample.takenMs, saidOf(facts, sample.takenMs));
    const text = facts.map(factText).sort().join('; ');
    if (dump && text !== last) console.log(`${(sample.takenMs - BEGAN_MS) / 1000} s: ${text || 'nothing'}`);
    last = text;
  }
  return spells.all;
}

function factText({ kind, name, direction, factor, sinceMs, classes, ambiguous, againstOthers }: SlowFact): string {
  const flags = [ambiguous && 'ambiguous', againstOthers && 'against others'].filter(Boolean).join(', ');
  // In steps of a quarter: a line each time that it moves would hide the rest.
  const about = (1.25 ** Math.round(Math.log(factor) / Math.log(1.25))).toFixed(1);
  const sizes = classes.map(({ upToBytes }) => (upToBytes ?? Infinity) / 1024).join(' ');
  return `${kind} ${name} ${direction} x${about} since ${(sinceMs - BEGAN_MS) / 1000}, KiB ${sizes}${flags && `, ${flags}`}`;
}
