// Verdict: lost events, and growth of memory and descriptors.

/** Sums over the agents: events in rings that were not counted, and events that were counted too often. */
export function accounts(ended, read) {
  const sum = { lost: 0, invented: 0, worst: '' };
  for (const [name, { written, wiped }] of ended) {
    const counted = read.get(name) ?? 0;
    // A restart wipes events that may have been counted before. Any count from `written` - `wiped` to `written` is right.
    const lost = Math.max(0, written - wiped - counted);
    const invented = Math.max(0, counted - written);
    sum.lost += lost;
    sum.invented += invented;
    if (lost + invented > 0) sum.worst = `${name}: written ${written}, wiped ${wiped}, counted ${counted}`;
  }
  return sum;
}

const MORE_MIB = 24;
const MORE_SHARE = 1.15;
const MORE_DESCRIPTORS = 16;
/** A heap reaches its size after minutes. */
const MINUTES_TO_JUDGE = 5;

/** Medians of the second and of the last quarter: the first quarter warms up. */
export function growth(samples, key) {
  const quarter = Math.floor(samples.length / 4);
  const median = (from, to) => {
    const values = samples.slice(from, to).map((sample) => sample[key]);
    return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  };
  return { before: median(quarter, 2 * quarter), after: median(samples.length - quarter, samples.length) };
}

export function canJudgeGrowth(minutes) {
  return minutes >= MINUTES_TO_JUDGE;
}

/** Lists the failures. */
export function complaints({ agents, serve, samples, exitCode, minutes }) {
  const found = [...agents.failures];
  const { lost, invented, worst } = accounts(agents.ended, serve.read);
  if (lost > 0) found.push(`${lost} events were lost (${worst})`);
  if (invented > 0) found.push(`${invented} events were counted but never written (${worst})`);
  if (serve.decreased.size > 0) found.push(`counts decreased of ${[...serve.decreased].join(', ')}`);
  if (exitCode !== 0) found.push(`serve ended with ${exitCode}`);
  if (serve.suspects.size > 0) found.push(`suspect numbers of ${[...serve.suspects].join(', ')}`);
  const memory = growth(samples, 'residentMiB');
  if (canJudgeGrowth(minutes) && memory.after > memory.before * MORE_SHARE + MORE_MIB) {
    found.push(`memory grew from ${memory.before.toFixed(0)} to ${memory.after.toFixed(0)} MiB`);
  }
  const descriptors = growth(samples, 'descriptors');
  if (descriptors.after > descriptors.before + MORE_DESCRIPTORS) {
    found.push(`descriptors grew from ${descriptors.before} to ${descriptors.after}`);
  }
  return found;
}
