/** Findings of doctor as lines of the screen, problems first. Pure. */
import { oneLine } from '../../ground/one-line.js';
import type { DoctorFinding, FindingStatus } from '../../view/answers/doctor-finding.js';
import { plural } from '../../ground/figures/figure.js';
import { SHAPES } from '../../view/verdict/shapes.js';
import type { MarkShape } from '../../view/verdict/types.js';
import { terminalColumns, EMPTY, type Line, piece, plain, type Style } from './line.js';

export interface Diagnosis {
  /** Agent, directory or address. */
  readonly subject: string;
  /** Absent until doctor has ended. */
  readonly findings?: readonly DoctorFinding[];
  /** Reason why there are none. */
  readonly failure?: string;
}

const STATUSES: Readonly<Record<FindingStatus, { readonly shape: MarkShape; readonly style: Style }>> = {
  problem: { shape: 'diamond', style: 'bad' },
  note: { shape: 'triangle', style: 'warn' },
  ok: { shape: 'tick', style: 'ok' },
};
const ORDER = Object.keys(STATUSES) as readonly FindingStatus[];
/** Columns before the text of a finding. */
const INDENT = 11;

export function doctorLines({ subject, findings, failure }: Diagnosis, columns: number, unicode: boolean): Line[] {
  const title = [piece(' DOCTOR', 'bold'), piece(`  ${oneLine(subject)}`, 'dim')];
  if (failure !== undefined) return [title, EMPTY, ...paragraph(oneLine(failure), columns, 1).map(plain)];
  if (findings === undefined) return [title, EMPTY, plain(' Looking at processes, directories, rings, outputs...')];
  const inOrder = findings.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  return [
    [...title, piece(`  ${summary(findings)}`, 'dim')],
    EMPTY,
    ...inOrder.flatMap((one) => findingLines(one, columns, unicode)),
  ];
}

function summary(findings: readonly DoctorFinding[]): string {
  const count = (status: FindingStatus): number => findings.filter((one) => one.status === status).length;
  return `${plural(count('problem'), 'problem')}, ${plural(count('note'), 'note')}, ${count('ok')} ok`;
}

function findingLines({ status, subject, what, why, mend }: DoctorFinding, columns: number, unicode: boolean): Line[] {
  const { shape, style } = STATUSES[status];
  const mark = ` ${SHAPES[shape][unicode ? 'glyph' : 'ascii']} ${status}`.padEnd(INDENT);
  const [first = '', ...rest] = paragraph(oneLine(`${subject}: ${what}`), columns, INDENT);
  const lines: Line[] = [[piece(mark, style), piece(first.trimStart())], ...rest.map(plain)];
  if (why === undefined || mend === undefined) return lines;
  const labelled = (label: string, text: string, textStyle: Style): Line[] =>
    paragraph(`${label} ${oneLine(text)}`, columns, INDENT).map((line) => [piece(line, textStyle)]);
  return [...lines, ...labelled('why:', why, 'dim'), ...labelled('do: ', mend, 'bold'), EMPTY];
}

/** Divides a text into indented lines, between words where it can. */
function paragraph(text: string, columns: number, indent: number): string[] {
  const room = Math.max(1, columns - indent);
  const lines: string[] = [];
  let rest = text;
  while (terminalColumns(rest) > room) {
    const at = rest.lastIndexOf(' ', room);
    const end = at > 0 ? at : room;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest].map((line) => ' '.repeat(indent) + line);
}
