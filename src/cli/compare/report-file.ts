/** Files of reports. */
import { readFileSync } from 'node:fs';
import { reasonOf } from '../../ground/errors.js';
import { ExitCode, Failure } from '../../process/failure.js';
import { reportProblem } from '../../report/report-problem.js';
import type { RunReport } from '../../report/run-report.js';

const ALLOWED = 'allowed: a file that nixl-otel run --report FILE.json wrote';

/** @throws Failure that names the file, what is wrong in it, and what is allowed */
export function readReport(file: string): RunReport {
  const refuse = (problem: string): Failure => new Failure(`${problem}; ${ALLOWED}`, ExitCode.USAGE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw refuse(`cannot read ${file}: ${reasonOf(error)}`);
  }
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch (error) {
    throw refuse(`${file} is no JSON: ${reasonOf(error)}`);
  }
  const problem = reportProblem(report);
  if (problem !== undefined) throw refuse(`${file}: ${problem}`);
  return report as RunReport;
}
