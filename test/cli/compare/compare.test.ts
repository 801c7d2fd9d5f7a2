import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { REPORT } from '../../../src/report/run-report.js';
import type { ComparedRun } from '../../../src/comparison/comparison.js';
import { RUN_FACTS, runReport } from '../../support/run-reports.js';
import { evenRun } from '../../comparison/runs.js';
import { temporaryDirectory } from '../command.js';
import { runHere } from '../in-process.js';

let directory = '';
beforeEach(() => (directory = temporaryDirectory()));

function file(name: string, run: ComparedRun | string): string {
  const made = path.join(directory, name);
  writeFileSync(made, typeof run === 'string' ? run : reportOf(run));
  return made;
}

function reportOf({ beginMs, slices }: ComparedRun): string {
  return JSON.stringify(runReport([], { run: { ...RUN_FACTS, beginMs }, slices }));
}

const alike = (beginMs = 0): ComparedRun => evenRun(500, 10, () => 100, beginMs);
const slower = (beginMs = 0): ComparedRun => evenRun(500, 10, () => 150, beginMs);
const compare = (...args: string[]) => runHere(['compare', ...args]);

describe('two reports', () => {
  it('are compared by class, in 80 columns', async () => {
    const { code, stdout, stderr } = await compare(file('a.json', alike()), file('b.json', slower()));
    expect(stdout).toMatch(/^tx 8 KiB +\d+ µs +\d+ µs +1\.42 times as long \(1\.\d\d to \d\.\d\d\)$/m);
    expect(stdout).toMatch(/^tx 8 KiB +81\.9 MB\/s +54\.6 MB\/s +0\.67 times as fast \(0\.\d\d to \d\.\d\d\)$/m);
    const lines = stdout.split('\n').filter((line) => !/^[AB]: /.test(line));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('say what could hide where nothing differs', async () => {
    const { code, stdout } = await compare(file('a.json', alike()), file('b.json', alike()), '--fail-above', '1');
    expect(stdout).toContain('no difference that 500 transfers could show');
    expect(stdout).toContain('A difference of up to 1.');
    expect(stdout.split('\n').filter((line) => line.length > 80 && !/^[AB]: /.test(line))).toEqual([]);
    expect(code).toBe(0);
  });

  it.each([
    ['1.2', 1],
    ['1.9', 0],
  ])('have exit code 1 above the bound: %s', async (bound, expected) => {
    const { code, stderr } = await compare(file('a.json', alike()), file('b.json', slower()), '--fail-above', bound);
    expect(code).toBe(expected);
    expect(stderr).toBe(expected === 0 ? '' : `nixl-otel: error: 1 class above ${bound} times: tx 8 KiB\n`);
  });

  it('are faster, which fails no bound', async () => {
    const reports = [file('a.json', slower()), file('b.json', alike())];
    const { code, stdout } = await compare(...reports, '--fail-above', '1.1', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      direction: 'tx',
      upToBytes: 8192,
      a: { transfers: 500, meanBytes: 8192 },
      verdict: 'faster',
    });
  });

  it('have no bound in JSON where there is none', async () => {
    const few = evenRun(8, 4, () => 100);
    const { stdout } = await compare(file('a.json', few), file('b.json', few), '--json');
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'few', p50: { multiple: 1, low: 0, high: null } });
  });

  it('may have no transfers', async () => {
    const empty = { beginMs: 0, slices: [] };
    const { code, stdout } = await compare(file('a.json', empty), file('b.json', empty));
    expect(stdout).toContain('no transfers');
    expect(code).toBe(0);
  });
});

it('compares runs that were not watched by their classes', async () => {
  const report = (us: number): string =>
    JSON.stringify(runReport([{ agent: 'a', tx: Array(500).fill({ bytes: 8192, us }) }]));
  const { stdout } = await compare(file('a.json', report(100)), file('b.json', report(200)));
  expect(stdout).toMatch(/^tx 8 KiB .* times as long \(1\.\d\d to \d\.\d\d\)$/m);
});

it('takes several reports of each side', async () => {
  const runs = (name: string, of: (beginMs: number) => ComparedRun, first: number) =>
    [0, 1, 2].map((i) => file(`${name}${i}.json`, of(first + 1000 * i)));
  const { code, stdout } = await compare(...runs('a', alike, 0), '--with', ...runs('b', slower, 500));
  const [, low] = /1\.42 times as long \((1\.\d\d) to/.exec(stdout)!;
  expect(Number(low)).toBeGreaterThan(1.15);
  expect(code).toBe(0);
});

describe('refusals', () => {
  /** A report with its first such part changed. */
  const changed = (part: string | RegExp, to: string): string => reportOf(alike()).replace(part, to);
  it.each<[string, string, string]>([
    ['no JSON', ' is no JSON: ', 'nothing'],
    ['no report', ': no report of a run', '{}'],
    ['a list', ': no report of a run', '[]'],
    ['another version', ': a report of another version: "v9"', changed(REPORT, 'v9')],
    ['no begin', ': run.beginMs is not a number from 0 on', changed('"beginMs":0', '"beginMs":"x"')],
    ['a slice', ': slices[0] is not an object', changed('"slices":[', '"slices":[5,')],
    ['a direction', ': slices[0].rx is not a list', changed('"rx":[]', '"rx":{}')],
    ['a count', ': slices[0].tx[0].transfers is not a number from 0 on', changed('"transfers":50', '"transfers":-1')],
    ['a bound', ': slices[0].tx[0].upToBytes is not a number above 0', changed('"upToBytes":8192', '"upToBytes":0')],
    ['a bucket', 'timesUs.counts[1] is not a number from 0 on', changed(/"counts":\[\d+\]/, '"counts":[1,-1]')],
    ['a scale', 'timesUs.scale is not a scale from 0 to 20', changed(/"scale":\d/, '"scale":99')],
  ])('name the file, the value and what is allowed: %s', async (_, reason, report) => {
    const wrong = file('wrong.json', report);
    const { code, stdout, stderr } = await compare(file('a.json', alike()), wrong);
    expect(stderr).toContain(`nixl-otel: error: ${wrong}`);
    expect(stderr).toContain('; allowed: a file that nixl-otel run --report FILE.json wrote');
    expect(stderr).toContain(reason);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('name a file that is not there', async () => {
    const missing = path.join(directory, 'missing.json');
    const { code, stderr } = await compare(file('a.json', alike()), missing);
    expect(stderr).toContain(`cannot read ${missing}: `);
    expect(code).toBe(2);
  });

  it.each([
    ['one report', ['a.json'], '1 report without --with'],
    ['three reports', ['a.json', 'b.json', 'c.json'], '3 reports without --with; allowed: two'],
    ['a report on both sides', ['a.json', '--with', 'a.json'], 'a.json is given twice'],
    ['a bound below 1', ['a.json', 'b.json', '--fail-above', '0.5'], 'a number from 1 on'],
    ['a bound that is no number', ['a.json', 'b.json', '--fail-above', 'x'], 'a number from 1 on'],
  ])('explain %s', async (_, args, reason) => {
    const { code, stderr } = await compare(...args);
    expect(stderr).toContain(reason);
    expect(code).toBe(2);
  });
});
