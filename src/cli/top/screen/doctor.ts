/** Runs `nixl-otel doctor` in other processes: its checks read all of /proc, and top must go on observing. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { reasonOf } from '../../../errors.js';
import type { Finding } from '../../doctor/finding.js';
import type { Diagnosis } from './doctor-page.js';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
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
async function findingsOfAll(runs: readonly (readonly string[])[], signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const args of runs) findings.push(...(await findingsOf(args, signal)));
  return findings;
}

/** The exit code says only whether there is a problem. @throws if the run has no finding at all */
function findingsOf(args: readonly string[], signal: AbortSignal): Promise<Finding[]> {
  const options = { signal, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [MAIN, 'doctor', '--json', ...args], options, (error, stdout, stderr) => {
      const findings = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Finding]));
      if (findings.length > 0) return resolve(findings);
      reject(new Error(stderr.trim() || (error === null ? 'doctor has found nothing' : reasonOf(error))));
    });
  });
}
