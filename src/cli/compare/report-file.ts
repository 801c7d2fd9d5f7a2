/** Reads what compare needs of a report of run. */
import { readFileSync } from 'node:fs';
import { isObject, shown } from '../../ground/arguments.js';
import { reasonOf } from '../../ground/errors.js';
import { ExitCode, Failure } from '../../process/failure.js';
import { REPORT } from '../../report/run-report.js';
import type { ComparedRun } from '../../view/comparison/comparison.js';
import type { RunSlice } from '../../view/comparison/run-slices.js';

const A_REPORT = 'a report, as nixl-otel run --report FILE.json writes it';

/** @throws Failure that names the file, the value and what is allowed */
export function comparedRun(file: string): ComparedRun {
  const report = parsed(file);
  const refuse = (where: string, value: unknown, allowed: string): never => {
    throw new Failure(`${file}: ${where} is ${shown(value)}; allowed: ${allowed}`, ExitCode.USAGE);
  };
  const needs = (where: string, value: unknown, allowed: string, isRight: boolean): void => {
    if (!isRight) refuse(where, value, allowed);
  };
  const isCount = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;
  const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
  const times = (where: string, value: unknown): void => {
    if (!isObject(value)) return refuse(where, value, 'an exponential histogram');
    const { scale, offset, zeroCount, counts } = value;
    needs(`${where}.scale`, scale, 'a whole number from 0 to 8', isWhole(scale) && (scale as number) <= 8);
    needs(`${where}.offset`, offset, 'a whole number from -1000 to 20000', isOffset(offset));
    needs(`${where}.zeroCount`, zeroCount, 'a whole number from 0 on', isWhole(zeroCount));
    const areCounts = Array.isArray(counts) && counts.length <= MOST_BUCKETS && counts.every(isWhole);
    needs(`${where}.counts`, counts, `at most ${MOST_BUCKETS} whole numbers from 0 on`, areCounts);
  };
  if (!isObject(report) || report['report'] !== REPORT) return refuse('the file', report, A_REPORT);
  const { run, slices } = report;
  const beginMs = isObject(run) ? run['beginMs'] : undefined;
  needs('run.beginMs', beginMs, 'milliseconds since the epoch', isCount(beginMs));
  if (!Array.isArray(slices)) return refuse('slices', slices, 'a list of slices, as nixl-otel run writes it');
  slices.forEach((slice: unknown, i) => {
    if (!isObject(slice)) return refuse(`slices[${i}]`, slice, 'an object with tx and rx');
    for (const direction of ['tx', 'rx']) {
      const classes = slice[direction];
      const where = `slices[${i}].${direction}`;
      if (!Array.isArray(classes)) return refuse(where, classes, 'a list of size classes');
      classes.forEach((one: unknown, k) => {
        if (!isObject(one)) return refuse(`${where}[${k}]`, one, 'an object');
        const { upToBytes, transfers, bytes, totalUs, timesUs } = one;
        const isBound = upToBytes === null || (isWhole(upToBytes) && upToBytes !== 0);
        needs(`${where}[${k}].upToBytes`, upToBytes, 'a number of bytes, or null', isBound);
        needs(`${where}[${k}].transfers`, transfers, 'a whole number from 0 on', isWhole(transfers));
        needs(`${where}[${k}].bytes`, bytes, 'a number from 0 on', isCount(bytes));
        needs(`${where}[${k}].totalUs`, totalUs, 'a number from 0 on', isCount(totalUs));
        times(`${where}[${k}].timesUs`, timesUs);
      });
    }
  });
  return { beginMs: beginMs as number, slices: slices as RunSlice[] };
}

const MOST_BUCKETS = 20_000;

function isOffset(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= -1000 && (value as number) <= 20_000;
}

function parsed(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure(`cannot read ${file}: ${reasonOf(error)}`, ExitCode.USAGE);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Failure(
      `${file} is no JSON (${reasonOf(error)}); allowed: ${A_REPORT}`,
      ExitCode.USAGE,
    );
  }
}
