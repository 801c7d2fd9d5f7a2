/** Shape of a finding of `nixl-otel doctor`, which its --json prints and `top` shows. */

export type FindingStatus = 'ok' | 'note' | 'problem';

export interface DoctorFinding {
  readonly status: FindingStatus;
  /** Kind of the finding: as docs/doctor.md lists it, or the name of a check that found nothing. */
  readonly finding: string;
  /** Directory, process, address or setting that was examined. */
  readonly subject: string;
  readonly what: string;
  /** Absent if the status is `ok`. */
  readonly why?: string;
  /** Command that mends it; absent if the status is `ok`. */
  readonly mend?: string;
}
