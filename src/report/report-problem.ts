/** Checks files of reports that people hand in: a wrong file causes a message, never a wrong number. Pure. */
import { MOST_STEPS, REPORT, type RunReport } from './run-report.js';

/** Returns what is wrong with a value, or undefined. `at`: its place in the file. */
type Check = (value: unknown, at: string) => string | undefined;
type Fields = Readonly<Record<string, Check>>;

/** Returns what keeps a parsed file from being a report; undefined for a report. */
export function reportProblem(json: unknown): string | undefined {
  const isMarked = typeof json === 'object' && json !== null && 'report' in json;
  if (!isMarked) return `no report of a run: it has no field "report"`;
  if (json.report !== REPORT) return `a report of another version: ${JSON.stringify(json.report)}, and not ${REPORT}`;
  return isReport(json, '');
}

export function isRunReport(json: unknown): json is RunReport {
  return reportProblem(json) === undefined;
}

const kind =
  (what: string, isRight: (value: unknown) => boolean): Check =>
  (value, at) =>
    isRight(value) ? undefined : `${at} is not ${what}`;

const text = kind('a text', (value) => typeof value === 'string');
const flag = kind('true or false', (value) => typeof value === 'boolean');
const whole = kind('a whole number', Number.isInteger);
const amount = kind('a number from 0 on', (value) => typeof value === 'number' && value >= 0 && Number.isFinite(value));
const direction = kind('tx or rx', (value) => value === 'tx' || value === 'rx');
const life = kind('alive, dead or unknown', (value) => ['alive', 'dead', 'unknown'].includes(value as string));
const bound = kind(
  'a number above 0, or null',
  (value) => value === null || (typeof value === 'number' && value > 0 && Number.isFinite(value)),
);
const model = kind(
  'a model',
  (value) => typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string',
);

const optional =
  (check: Check): Check =>
  (value, at) =>
    value === undefined ? undefined : check(value, at);

const listOf =
  (check: Check, most = Infinity): Check =>
  (value, at) => {
    if (!Array.isArray(value) || value.length > most)
      return `${at} is not a list${most === Infinity ? '' : ` of at most ${most}`}`;
    for (const [i, one] of value.entries()) {
      const problem = check(one, `${at}[${i}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };

const object =
  (fields: Fields): Check =>
  (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return `${at || 'the file'} is not an object`;
    for (const [name, check] of Object.entries(fields)) {
      const problem = check((value as Record<string, unknown>)[name], at === '' ? name : `${at}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };

/** Values of 64 bits have 1024 buckets at scale 4. */
const MOST_BUCKETS = 2048;
const scale = kind(
  'a scale from 0 to 20',
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 20,
);
const offset = kind('a bucket', (value) => Number.isInteger(value) && Math.abs(value as number) <= 64 * 2 ** 20);
const times = object({ scale, zeroCount: amount, offset, counts: listOf(amount, MOST_BUCKETS) });

const sizeClass = object({
  upToBytes: bound,
  transfers: amount,
  bytes: amount,
  meanBytes: amount,
  p50Us: amount,
  p90Us: amount,
  p99Us: amount,
  maxUs: amount,
  postP50Us: optional(amount),
  postTransfers: amount,
  bytesPerSecond: optional(amount),
  few: flag,
  timesUs: times,
  postTimesUs: times,
  timeSumUs: amount,
  postTimeSumUs: amount,
});

const oneDirection = object({
  transfers: amount,
  bytes: amount,
  bytesPerSecond: optional(amount),
  wallBytesPerSecond: optional(amount),
  classes: listOf(sizeClass, 64),
  model,
  posting: optional(object({ p50Us: amount, share: optional(amount) })),
  endedInPost: amount,
});

const sliceClass = object({ upToBytes: bound, transfers: amount, bytes: amount, totalUs: amount, timesUs: times });
const slice = object({ endMs: amount, tx: listOf(sliceClass, 64), rx: listOf(sliceClass, 64) });

const steps = listOf(amount, MOST_STEPS);

const agent = object({
  agent: text,
  name: text,
  life,
  pid: optional(whole),
  startTimeMs: optional(amount),
  lastEventMs: optional(amount),
  endedMs: optional(amount),
  errors: listOf(amount),
  memoryBytes: optional(amount),
  memoryApproximate: optional(flag),
  registeredBytes: optional(amount),
  dropped: amount,
  lost: amount,
  foundFull: optional(amount),
  foundFullMs: optional(amount),
  capacity: optional(amount),
  flushIntervalMs: optional(amount),
  restarts: optional(amount),
  suspect: flag,
  writers: optional(listOf(whole)),
  events: optional(amount),
  wireVersion: optional(amount),
  rank: optional(text),
  gpus: optional(text),
  tx: oneDirection,
  rx: oneDirection,
  firstTransfer: optional(object({ direction, bytes: amount, timeUs: amount, postTimeUs: optional(amount) })),
  memoryPeakBytes: optional(amount),
  mayMissMs: optional(amount),
  line: optional(object({ txBytes: steps, rxBytes: steps, transfers: steps, errors: steps, memoryBytes: steps })),
});

const isReport = object({
  version: text,
  hostname: text,
  takenMs: amount,
  run: object({
    command: listOf(text),
    directory: text,
    beginMs: amount,
    endMs: optional(amount),
    exitCode: optional(whole),
    signal: optional(text),
    bufferSlots: optional(amount),
    flushIntervalMs: optional(amount),
  }),
  totals: object({
    txBytes: amount,
    rxBytes: amount,
    txTransfers: amount,
    rxTransfers: amount,
    errors: amount,
    lost: amount,
  }),
  errorStatuses: listOf(text),
  agents: listOf(agent),
  line: optional(object({ beginMs: amount, stepMs: amount, steps: amount })),
  slices: optional(listOf(slice)),
  problems: listOf(object({ path: text, state: text, reason: text })),
  notes: listOf(text),
});
