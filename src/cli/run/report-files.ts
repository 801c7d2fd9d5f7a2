/** Files of a report: their endings decide the form. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { reasonOf } from '../../ground/errors.js';
import { reportMarkdown } from '../../report/report-text.js';
import type { RunReport } from '../../report/run-report.js';
import { textShape } from '../../settings/shape.js';
import { Failure } from '../../process/failure.js';

/** Metrics for the textfile collector of node_exporter, which reads files of this ending. */
export const METRICS_ENDING = '.prom';

type ReportForm = (report: RunReport) => string | Promise<string>;

const FORMS: Readonly<Record<string, ReportForm>> = {
  '.json': (report) => `${JSON.stringify(report, undefined, 1)}\n`,
  '.html': async (report) => (await import('../../report/html/report-html.js')).reportHtml(report),
  '.md': reportMarkdown,
};
const ENDINGS = [...Object.keys(FORMS), METRICS_ENDING];

export const reportFile = textShape(`a file that ends in ${ENDINGS.join(', ')}`, {}, (given) =>
  ENDINGS.includes(path.extname(given)),
);

/** `metrics`: makes the page of a file of metrics. @throws Failure with all files that could not be written */
export async function writeReport(
  report: RunReport,
  files: readonly string[],
  metrics: (() => Promise<string>) | undefined,
): Promise<void> {
  const problems: string[] = [];
  for (const file of files) {
    try {
      const ending = path.extname(file);
      const text = ending === METRICS_ENDING ? await metrics?.() : await FORMS[ending]!(report);
      if (text !== undefined) writeWhole(file, text);
    } catch (error) {
      problems.push(`${file} cannot be written: ${reasonOf(error)}`);
    }
  }
  if (problems.length > 0) throw new Failure(problems.join('; '));
}

/** A reader never sees a part of the file. A device or a pipe cannot be replaced. */
function writeWhole(file: string, text: string): void {
  if (file.startsWith('/dev/')) return writeFileSync(file, text);
  const whole = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(whole, text);
    renameSync(whole, file);
  } catch (error) {
    rmSync(whole, { force: true });
    throw error;
  }
}
