/** Findings of `nixl-otel doctor`, with their reasons and the commands that mend them. Pure. */
import { listed } from '../../ground/figures/figure.js';
import type { DoctorFinding, FindingStatus } from '../../view/answers/doctor-finding.js';
import { type FindingName, type FindingRow, FINDINGS } from './findings.js';

export type FindingValues = Readonly<Record<string, string | number | readonly string[]>>;

interface Details {
  readonly subject: string;
  readonly what: string;
  /** Values for the names in capitals of the command. */
  readonly values?: FindingValues;
  /** Instead of the status of the row, if the check is not certain. */
  readonly status?: FindingStatus;
}

export function finding(name: FindingName, { subject, what, values = {}, status }: Details): DoctorFinding {
  const row: FindingRow = FINDINGS[name];
  const mend = row.mend.replaceAll(/\b[A-Z]+\b/g, (word) => {
    return Object.hasOwn(values, word) ? [values[word]!].flat().map(shellWord).join(' ') : word;
  });
  return { status: status ?? row.status, finding: name, subject, what, why: row.why, mend };
}

/** A check that found nothing wrong. */
export function ok(name: string, subject: string, what: string): DoctorFinding {
  return { status: 'ok', finding: name, subject, what };
}

/** Quotes a text for a shell, if it needs quotes. */
function shellWord(value: string | number): string {
  const text = String(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Names the first three, and counts the others. */
export function firstThree(texts: readonly string[]): string {
  return listed(texts, 3);
}
