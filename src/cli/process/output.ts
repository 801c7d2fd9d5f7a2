/** Data goes to stdout, notes to stderr. */
import { diag, type DiagLogger, DiagLogLevel } from '@opentelemetry/api';
import { reasonOf } from '../../errors.js';
import { LOG_LEVELS, type ServeSettings } from '../../settings/serve-rows.js';
import { printable, printableJson } from '../../instrumentation/one-line.js';

/** For names in text. */
export { oneLine as harmless, printableJson } from '../../instrumentation/one-line.js';

/** Called when nobody gets what we print any more. */
let onStdoutClosed = (): void => {};
let isStdoutClosed = false;
let isStdoutBroken = false;
let isStdoutNeeded = true;

export function whenStdoutCloses(action: () => void): void {
  onStdoutClosed = action;
}

/** For a command that has more to do than to print. */
export function goOnWithoutStdout(): void {
  isStdoutNeeded = false;
}

/** No error of stdout or stderr ends the process: a full disk under a log must not stop a collector. */
export function guardOutput(): void {
  process.stderr.on('error', () => {}); // there is no place left to say it
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error) && !isStdoutBroken) {
      isStdoutBroken = true;
      note(`stdout cannot be written: ${reasonOf(error)}`, 'error');
    }
    isStdoutClosed = true;
    onStdoutClosed();
  });
}

/** `nixl-otel demo | head -3` is a way to use it, not an error. EIO is what is left of a terminal that was closed. */
function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY);
}

/** Whether something that this command is for could not be printed. A reader who left is no loss. */
export async function isOutputLost(): Promise<boolean> {
  await allWritten();
  return isStdoutBroken && isStdoutNeeded;
}

/** Whether all that was printed so far went out, for whatever reason it did not. */
export async function isAllPrinted(): Promise<boolean> {
  await allWritten();
  return !isStdoutClosed;
}

/** An error is told one turn after the write that it is of. */
function allWritten(): Promise<void> {
  return new Promise((resolve) => process.stdout.write('', () => setImmediate(resolve)));
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export type NoteLevel = 'error' | 'warning' | 'info' | 'debug' | 'verbose';

export type LogFormat = ServeSettings['logFormat'];

let format: LogFormat = 'text';
/** Notes that wait for their format; undefined once it is set. */
let held: [message: string, level: NoteLevel][] | undefined;

/** Keeps notes back until useNoteFormat() sets their format. */
export function holdNotes(): void {
  held ??= [];
}

/** Sets the format of held notes and of every further one. */
export function useNoteFormat(wanted: LogFormat): void {
  format = wanted;
  if (format === 'json') noteNodeWarnings();
  const waiting = held ?? [];
  held = undefined;
  for (const [message, level] of waiting) note(message, level);
}

/** Returns the format. `otherwise`: which one to use if none was set yet. */
export function settleNoteFormat(otherwise: () => LogFormat): LogFormat {
  if (held !== undefined) useNoteFormat(otherwise());
  return format;
}

/** Node writes its own warnings as text. */
function noteNodeWarnings(): void {
  const [nodes] = process.listeners('warning').filter(({ name }) => name === 'onWarning');
  if (nodes === undefined) return; // --no-warnings, or done already
  process.off('warning', nodes);
  process.on('warning', ({ name, message }) => note(`${name}: ${message}`, 'warning'));
}

/** One line on stderr. Control characters in it, of file names say, stay text. */
export function note(message: string, level: NoteLevel = 'info'): void {
  if (held !== undefined) return void held.push([message, level]);
  const line =
    format === 'json'
      ? printableJson({ time: new Date().toISOString(), level, message })
      : `nixl-otel: ${level === 'info' ? '' : `${level}: `}${printable(message)}`;
  process.stderr.write(`${line}\n`);
}

/** Warns of each thing once, however often it is met. */
export function warnOnce(): (message: string) => void {
  const said = new Set<string>();
  return (message) => {
    if (!said.has(message)) note(message, 'warning');
    said.add(message);
  };
}

/** Waits while whoever reads stdout cannot keep up. */
export function printChunk(text: string | Uint8Array): Promise<void> | undefined {
  if (text.length === 0 || process.stdout.write(text) || process.stdout.destroyed) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      process.stdout.off('drain', done).off('close', done).off('error', done);
      resolve();
    };
    process.stdout.on('drain', done).on('close', done).on('error', done);
  });
}

const LEVELS: Readonly<Record<(typeof LOG_LEVELS)[number], DiagLogLevel>> = {
  none: DiagLogLevel.NONE,
  error: DiagLogLevel.ERROR,
  warn: DiagLogLevel.WARN,
  info: DiagLogLevel.INFO,
  debug: DiagLogLevel.DEBUG,
  verbose: DiagLogLevel.VERBOSE,
  all: DiagLogLevel.ALL,
};

/** What the package and OpenTelemetry have to say, at the level of OTEL_LOG_LEVEL. */
export function useStderrForDiag(asked = process.env['OTEL_LOG_LEVEL'] || 'info'): void {
  const level = LOG_LEVELS.find((name) => name === asked.toLowerCase());
  const logLevel = level === undefined ? DiagLogLevel.INFO : LEVELS[level];
  isDebugging = logLevel >= DiagLogLevel.DEBUG;
  diag.setLogger(stderrLogger(), { logLevel, suppressOverrideMessage: true });
  // The OpenTelemetry specification wants unknown values of its variables passed over with a warning.
  if (level === undefined) {
    diag.warn(`OTEL_LOG_LEVEL is "${asked}"; allowed: ${LOG_LEVELS.join(', ')}; info is used`);
  }
}

let isRepetition = (_level: NoteLevel, _line: string): boolean => false;
let isDebugging = false;

/** Log lines that repeat what is reported elsewhere are shown from level debug on. */
export function hideRepetitions(isOne: (level: NoteLevel, line: string) => boolean): void {
  isRepetition = isOne;
}

function stderrLogger(): DiagLogger {
  const at =
    (level: NoteLevel) =>
    (...parts: unknown[]) => {
      const line = parts.map(asText).join(' ');
      if (isDebugging || !isRepetition(level, line)) note(line, level);
    };
  return { error: at('error'), warn: at('warning'), info: at('info'), debug: at('debug'), verbose: at('verbose') };
}

function asText(part: unknown): string {
  if (part instanceof Error) return part.message;
  return typeof part === 'string' ? part : JSON.stringify(part);
}
