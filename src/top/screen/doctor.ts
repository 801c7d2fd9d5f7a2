/** Runs `nixl-otel doctor` in other processes: its checks read all of /proc, and top must go on observing. */
import { intervalText } from '../../ground/figures/clock.js';
import { execFile, type ExecFileException } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parsedJson, reasonOf } from '../../ground/errors.js';
import type { DoctorFinding, FindingStatus } from '../../view/answers/doctor-finding.js';
import type { Diagnosis } from './doctor-page.js';

const MAIN = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const STATUSES: ReadonlySet<FindingStatus> = new Set(['problem', 'note', 'ok']);
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 2 ** 24;

export class Doctor {
  #running = new AbortController();
  #diagnosis: Diagnosis | undefined;

  get diagnosis(): Diagnosis | undefined {
    return this.#diagnosis;
  }

  /** Ends earlier runs, and begins those with these arguments. `onChange`: called when all have ended. */
  start(subject: string, runs: readonly (readonly string[])[], onChange: () => void): void {
    this.stop();
    const { signal } = (this.#running = new AbortController());
    this.#diagnosis = { subject };
    const finish = (diagnosis: Diagnosis): void => {
      if (signal.aborted) return;
      this.#diagnosis = diagnosis;
      onChange();
    };
    findingsOfAll(runs, signal).then(
      (findings) => finish({ subject, findings }),
      (error: unknown) => finish({ subject, failure: reasonOf(error) }),
    );
  }

  stop(): void {
    this.#running.abort();
  }
}

/** One run after the other: there may be as many as hosts. */
async function findingsOfAll(runs: readonly (readonly string[])[], signal: AbortSignal): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for (const args of runs) findings.push(...(await findingsOf(args, signal)));
  return findings;
}

/** The exit code says only whether there is a problem. @throws if the run has no finding at all */
function findingsOf(args: readonly string[], signal: AbortSignal): Promise<DoctorFinding[]> {
  const options = { signal, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [MAIN, 'doctor', '--json', ...args], options, (error, stdout, stderr) => {
      // A line may be no finding, such as a part of the last one of a doctor that was killed.
      const findings = stdout.split('\n').map(parsedJson).filter(isFinding);
      if (findings.length > 0 && hasEnded(error)) return resolve(findings);
      reject(new Error(stderr.trim() || failureOf(error)));
    });
  });
}

function isFinding(value: unknown): value is DoctorFinding {
  if (typeof value !== 'object' || value === null) return false;
  const { status, subject, what } = value as Partial<Record<keyof DoctorFinding, unknown>>;
  return STATUSES.has(status as FindingStatus) && typeof subject === 'string' && typeof what === 'string';
}

function failureOf(error: ExecFileException | null): string {
  if (error === null) return 'doctor has found nothing';
  if (error.killed === true && error.code === undefined) return `doctor has not ended in ${intervalText(TIMEOUT_MS)}`;
  if (typeof error.signal === 'string') return `doctor was ended by ${error.signal}`;
  return reasonOf(error);
}

/** Exit code 1 says that there is a problem. A doctor that was killed has found a part only. */
function hasEnded(error: ExecFileException | null): boolean {
  return error === null || error.code === 1;
}
