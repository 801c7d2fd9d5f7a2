/** Findings of `nixl-otel doctor`, with their reasons and the commands that mend them. Pure. */
import { type FindingName, type FindingRow, FINDINGS } from './findings.js';

export type Status = 'ok' | 'note' | 'problem';

export interface Finding {
  readonly status: Status;
  /** Kind of the finding: a key of FINDINGS, or the name of a check that found nothing. */
  readonly finding: string;
  /** Directory, process, address or setting that was examined. */
  readonly subject: string;
  readonly what: string;
  /** Absent if the status is `ok`. */
  readonly why?: string;
  /** Command that mends it; absent if the status is `ok`. */
  readonly mend?: string;
}

interface Details {
  readonly subject: string;
  readonly what: string;
  /** Values for the names in capitals of the command. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Instead of the status of the row, if the check is not certain. */
  readonly status?: Status;
}

export function finding(name: FindingName, { subject, what, values = {}, status }: Details): Finding {
  const row: FindingRow = FINDINGS[name];
  const mend = row.mend.replaceAll(/\b[A-Z]+\b/g, (word) => {
    return Object.hasOwn(values, word) ? shellWord(values[word]!) : word;
  });
  return { status: status ?? row.status, finding: name, subject, what, why: row.why, mend };
}

/** A check that found nothing wrong. */
export function ok(name: string, subject: string, what: string): Finding {
  return { status: 'ok', finding: name, subject, what };
}

/** Quotes a text for a shell, if it needs quotes. */
function shellWord(value: string | number): string {
  const text = String(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const MAX_LISTED = 3;

/** Lists the first texts and counts the others: `a, b, c and 7 more`. */
export function listed(texts: readonly string[]): string {
  const rest = texts.length - MAX_LISTED;
  const first = texts.slice(0, MAX_LISTED).join(', ');
  return rest > 0 ? `${first} and ${rest} more` : first;
}
