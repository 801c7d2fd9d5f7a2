/**
 * Calls of `compare`: of pairs of equal runs, how many get any difference; of runs whose transfers take 1.5 times as long, how
 * many classes are called slower. The runs are real ones of transfer-source on this machine, with its noise, one after another.
 */
import { compareRuns } from '../dist/comparison/comparison.js';
import { inDirectory, round } from './support/measure.mjs';
import { slicedRun } from './support/sliced-run.mjs';

export const title = 'calls of compare; about 500 transfers of each direction and size in a run of half a second';

const PACED = ['--rate', '0', '--transfers', '2000', '--sizes', '4k:1,1M:1', '--reads', '50'];
const TIMES = ['--base-us', '50', '--bandwidth', '4G'];
const SLOW = ['--slow-after', '0', '--slow-factor', '1.5'];
const PAIRS = 200;
const SLOW_RUNS = 100;
const MOST_FALSE = 0.01;
const LEAST_FOUND = 0.99;
/** Runs between those of a pair, some ten seconds. */
const APART = 20;
const IN_TURN = 3;

export async function run({ quick }) {
  const pairs = quick ? 3 : PAIRS;
  const equal = [];
  const slow = [];
  for (let i = 0; i < 2 * pairs; i++) {
    equal.push(await inDirectory((directory) => slicedRun(directory, [...PACED, ...TIMES, '--seed', i])));
    if (i % (2 * Math.ceil(pairs / (quick ? 3 : SLOW_RUNS))) !== 0) continue;
    const made = await inDirectory((directory) => slicedRun(directory, [...PACED, ...TIMES, ...SLOW, '--seed', i]));
    slow.push([equal.at(-1), made]);
  }
  const apart = quick ? 1 : APART;
  return [
    falseCalls(
      'equal: one of each',
      chunks(equal, 2).map(([a, b]) => [[a], [b]]),
    ),
    falseCalls(
      `equal: one of each, ${apart} runs between`,
      equal.slice(apart).map((b, i) => [[equal[i]], [b]]),
    ),
    falseCalls(
      `equal: ${IN_TURN} of each, in turn`,
      chunks(equal, 2 * IN_TURN).map((runs) => [every(runs, 0), every(runs, 1)]),
    ),
    found(
      '1.5 times as long: one of each',
      slow.map(([a, b]) => [[a], [b]]),
    ),
  ];
}

function chunks(runs, length) {
  const whole = Math.floor(runs.length / length);
  return Array.from({ length: whole }, (_, i) => runs.slice(i * length, (i + 1) * length));
}

const every = (runs, first) => runs.filter((_, i) => i % 2 === first);

function falseCalls(name, pairs) {
  const called = pairs.filter(([a, b]) => compareRuns(a, b).classes.some(isCalled)).length;
  return { name, kind: 'equal', of: pairs.length, called, share: called / pairs.length };
}

function found(name, pairs) {
  const classes = pairs.flatMap(([a, b]) => compareRuns(a, b).classes);
  const called = classes.filter(({ verdict }) => verdict === 'slower').length;
  return { name, kind: 'slow', of: classes.length, called, share: called / classes.length };
}

const isCalled = ({ verdict }) => verdict === 'slower' || verdict === 'faster';

export function caseOf({ name }) {
  return name;
}

export function columnsOf({ kind, of, called, share }) {
  const limit = kind === 'equal' ? `at most ${MOST_FALSE * 100}` : `at least ${LEAST_FOUND * 100}`;
  return { [kind === 'equal' ? 'pairs' : 'classes']: of, called, '%': round(share * 100), limit };
}

export function violations(rows) {
  return rows.flatMap(({ name, kind, share }) => {
    const isWrong = kind === 'equal' ? share > MOST_FALSE : share < LEAST_FOUND;
    return isWrong ? [`${name}: called in ${round(share * 100)} %`] : [];
  });
}
