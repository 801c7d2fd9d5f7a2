/** The shape of a report: what the builder makes of transfers, and what is refused as a report. */
import { describe, expect, it } from 'vitest';
import { isRunReport, reportProblem } from '../../src/report/report-problem.js';
import type { RunReport } from '../../src/report/run-report.js';
import { runReport } from '../support/run-reports.js';
import type { Transfer } from '../view/sizes/seven-agents.js';

const COLD: Transfer = { bytes: 4096, us: 38_000_000, postUs: 900 };
const WARM: readonly Transfer[] = Array.from({ length: 400 }, (_, i) => ({ bytes: 4096, us: 20 + (i % 4), postUs: 2 }));
const firstTransfer = { direction: 'tx', bytes: 4096, timeUs: 38_000_000, postTimeUs: 900 } as const;

function sent(report: RunReport): RunReport {
  return JSON.parse(JSON.stringify(report)) as RunReport;
}

describe('the report of a run', () => {
  it('has the sums of all transfers, and the first one apart from the classes', () => {
    const report = runReport([{ agent: 'a', tx: [COLD, ...WARM], watched: { firstTransfer } }]);
    const [agent] = report.agents;
    expect(report.totals).toEqual({
      txBytes: 401 * 4096,
      rxBytes: 0,
      txTransfers: 401,
      rxTransfers: 0,
      errors: 0,
      lost: 0,
    });
    expect(agent!.tx).toMatchObject({ transfers: 401, bytes: 401 * 4096 });
    expect(agent!.tx.classes).toMatchObject([
      { upToBytes: 4096, transfers: 400, bytes: 400 * 4096, postTransfers: 400 },
    ]);
    const [one] = agent!.tx.classes;
    expect(one!.maxUs).toBeLessThan(25);
    expect(one!.timeSumUs).toBe(WARM.reduce((sum, { us }) => sum + us, 0));
    expect(one!.postTimeSumUs).toBe(800);
    expect(Array.from(one!.timesUs.counts).reduce((sum, count) => sum + count, 0)).toBe(400);
    expect(agent!.firstTransfer).toEqual(firstTransfer);
  });

  it('keeps all transfers in the classes if none of them is the first one', () => {
    const other = { direction: 'tx', bytes: 1 << 20, timeUs: 5 } as const;
    const { agents } = runReport([{ agent: 'a', tx: WARM, watched: { firstTransfer: other } }]);
    expect(agents[0]!.tx.classes[0]!.transfers).toBe(400);
  });

  it('has no class of the first transfer if there was no other', () => {
    const { agents } = runReport([{ agent: 'a', tx: [COLD], watched: { firstTransfer } }]);
    expect(agents[0]!.tx).toMatchObject({ transfers: 1, classes: [] });
  });

  it('is one after its way through a file, with transfers above all bounds as well', () => {
    const huge = [{ bytes: 2 ** 33, us: 9_000_000 }];
    const report = runReport([
      { agent: 'a', tx: [COLD, ...WARM, ...huge], rx: WARM, watched: { firstTransfer } },
      { agent: 'b' },
    ]);
    expect(reportProblem(sent(report))).toBeUndefined();
    expect(sent(report).agents[0]!.tx.classes.at(-1)!.upToBytes).toBeNull();
  });
});

describe('a file that is no report', () => {
  const report = sent(runReport([{ agent: 'a', tx: WARM }]));
  const changed = (place: readonly (string | number)[], value: unknown): unknown => {
    const copy = sent(report);
    const last = place.at(-1)!;
    const parent = place.slice(0, -1).reduce((part, key) => (part as Record<string, object>)[key]!, copy as object);
    Object.assign(parent, { [last]: value });
    return copy;
  };
  const IN_CLASS = ['agents', 0, 'tx', 'classes', 0, 'timesUs'];

  it.each([
    [null, 'no report of a run: it has no field "report"'],
    [{ api: 'nixl-otel/v1' }, 'no report of a run: it has no field "report"'],
    [
      { report: 'nixl-otel/report/v9' },
      'a report of another version: "nixl-otel/report/v9", and not nixl-otel/report/v1',
    ],
    [changed(['agents'], {}), 'agents is not a list'],
    [changed(['agents', 0, 'tx'], undefined), 'agents[0].tx is not an object'],
    [changed([...IN_CLASS, 'counts'], [1, -1]), 'agents[0].tx.classes[0].timesUs.counts[1] is not a number from 0 on'],
    [changed([...IN_CLASS, 'scale'], 1e9), 'agents[0].tx.classes[0].timesUs.scale is not a scale from 0 to 20'],
    [changed(['run', 'command'], 'python3'), 'run.command is not a list'],
    [changed(['run', 'exitCode'], '0'), 'run.exitCode is not a whole number'],
  ])('is refused with what is wrong: %#', (json, problem) => {
    expect(reportProblem(json)).toBe(problem);
    expect(isRunReport(json)).toBe(false);
  });
});
