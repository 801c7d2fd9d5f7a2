/** Reports of real runs, compared by the command. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { RunReport } from '../../../src/report/run-report.js';
import { run, temporaryDirectory, TRANSFER_SOURCE } from '../command.js';

/** Delays of a busy machine are small beside these times. */
const TRANSFERS = '--rate 0 --transfers 300 --sizes 4k:1,1M:1 --reads 50 --copy-free --base-us 1000';

async function reportOf(file: string, flags: string): Promise<RunReport> {
  const agent = `exec "${TRANSFER_SOURCE}" --dir "$NIXL_TELEMETRY_DIR" ${TRANSFERS} ${flags} > /dev/null`;
  const reports = ['--report', file, '--report', file.replace('.json', '.html')];
  expect(await run(['run', ...reports, '--', 'sh', '-c', agent])).toMatchObject({ code: 0 });
  return JSON.parse(readFileSync(file, 'utf8')) as RunReport;
}

it('calls a run whose transfers take longer, has all transfers in slices, and writes HTML', async () => {
  const directory = temporaryDirectory();
  const [before, after] = ['before.json', 'after.json'].map((name) => path.join(directory, name)) as [string, string];
  const report = await reportOf(before, '');
  await reportOf(after, '--slow-after 0 --slow-factor 4');
  const { slices, totals } = report;
  for (const direction of ['tx', 'rx'] as const) {
    const classes = slices!.flatMap((slice) => slice[direction]);
    const transfers = classes.reduce((sum, one) => sum + one.transfers, 0);
    expect(transfers).toBe(totals[`${direction}Transfers`]);
    expect(classes.reduce((sum, one) => sum + one.bytes, 0)).toBe(totals[`${direction}Bytes`]);
  }
  expect(slices!.filter(({ tx }) => tx.length > 0).length).toBeGreaterThan(1);
  expect(readFileSync(before.replace('.json', '.html'), 'utf8')).toMatch(/^<!doctype html>.*agent-0 tx: time by size/s);

  const { code, stdout, stderr } = await run(['compare', before, after, '--fail-above', '2', '--json']);
  const verdicts = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { verdict: string }).verdict);
  expect(verdicts).toHaveLength(4);
  // A machine that stalls for much of a run leaves a class that says nothing.
  const told = verdicts.filter((verdict) => verdict !== 'few');
  expect(new Set(told)).toEqual(new Set(['slower']));
  expect(stderr).toMatch(/class(es)? above 2 times: [tr]x [14] [KM]iB/);
  expect(code).toBe(1);
});
