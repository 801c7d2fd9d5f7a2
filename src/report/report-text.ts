/** A report in 80 columns, and as Markdown. Pure. */
import { oneLine } from '../ground/one-line.js';
import { cutMiddle } from '../view/figures/cut-middle.js';
import { table, widthOf } from '../view/figures/table.js';
import { type ReportPart, reportParts } from './report-parts.js';
import { outcomeText } from './report-words.js';
import type { RunReport } from './run-report.js';

const COLUMNS = 80;
/** Columns of the longest name of an agent. */
const NAME_COLUMNS = 20;

/** Ends with a newline. */
export function reportText(report: RunReport): string {
  const parts = reportParts(withShortNames(report)).map(textOfPart);
  return `${[wrapped(outcomeText(report)), ...parts].join('\n\n')}\n`;
}

function textOfPart({ title, headings = [], rows = [], lines }: ReportPart): string {
  const cells = rows.map((row) => row.map(oneLine));
  const body =
    rows.length === 0
      ? []
      : table(headings, cells)
          .split('\n')
          .map((line) => line.trimEnd());
  const indented = title === undefined ? '' : '  ';
  return [
    ...(title === undefined ? [] : [wrapped(oneLine(title))]),
    ...body.map((line) => indented + line),
    ...lines.map((line) => wrapped(oneLine(line), indented)),
  ].join('\n');
}

function withShortNames(report: RunReport): RunReport {
  const agents = report.agents.map((agent) => ({ ...agent, name: cutMiddle(oneLine(agent.name), NAME_COLUMNS) }));
  return { ...report, agents };
}

/** Breaks a text between words. A longer word stays whole: it may be a path. */
function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line !== indent && widthOf(line) + 1 + widthOf(word) > COLUMNS) {
      lines.push(line);
      line = indent;
    }
    line += line === indent ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
}

/** For the summary of a CI job. Ends with a newline. */
export function reportMarkdown(report: RunReport): string {
  const parts = reportParts(report).map(markdownOfPart);
  return `${[`## nixl-otel run on ${escaped(report.hostname)}`, escaped(outcomeText(report)), ...parts].join('\n\n')}\n`;
}

function markdownOfPart({ title, headings = [], rows = [], lines }: ReportPart): string {
  const row = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  const rule = headings.map((_, i) => (i === 0 ? '---' : '---:'));
  const body = rows.length === 0 ? [] : [[row(headings), `| ${rule.join(' | ')} |`, ...rows.map(row)].join('\n')];
  const texts = lines.length <= 1 ? lines.map(escaped) : [lines.map((line) => `- ${escaped(line)}`).join('\n')];
  return [...(title === undefined ? [] : [`### ${escaped(title)}`]), ...body, ...texts].join('\n\n');
}

/** Names of agents may hold anything. */
function escaped(text: string): string {
  return oneLine(text).replaceAll(/[\\`*_{}[\]<>|#~]/g, '\\$&');
}
