/** Output of commands: data on stdout, notes on stderr. */
import { reasonOf } from '../ground/errors.js';
import { printable, printableJson } from '../ground/one-line.js';
import type { LogFormat } from '../settings/log-words.js';

let stdoutClosed = (): void => {};
let isStdoutClosed = false;
let isStdoutBroken = false;
let isStdoutOptional = false;

/** Sets the action that runs when stdout has no reader any more. */
export function onStdoutClosed(action: () => void): void {
  stdoutClosed = action;
}

/** Lets a command succeed even if stdout breaks: printing is not its main work. */
export function makeStdoutOptional(): void {
  isStdoutOptional = true;
}

/** Prevents errors of stdout and stderr from ending the process: a full disk under a log must not stop a collector. */
export function guardOutput(): void {
  process.stderr.on('error', () => {}); // no stream is left for a report
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error) && !isStdoutBroken) {
      isStdoutBroken = true;
      note(`stdout cannot be written: ${reasonOf(error)}`, 'error');
    }
    isStdoutClosed = true;
    stdoutClosed();
  });
}

/** `nixl-otel demo | head -3` is no error. A terminal that was closed gives EIO. */
function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY);
}

/** Resolves to true if stdout broke and is not optional. A reader that left early loses nothing. */
export async function isOutputLost(): Promise<boolean> {
  await allWritten();
  return isStdoutBroken && !isStdoutOptional;
}

/** Resolves to true if the whole output reached its reader. */
export async function isOutputComplete(): Promise<boolean> {
  await allWritten();
  return !isStdoutClosed;
}

/** Waits one turn longer than the last write: its error is reported then. */
function allWritten(): Promise<void> {
  return new Promise((resolve) => process.stdout.write('', () => setImmediate(resolve)));
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes text to stdout. Returns a promise that waits for a slow reader; undefined if no wait is necessary. */
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

// --- Notes

export type NoteLevel = 'error' | 'warning' | 'info' | 'debug' | 'verbose';

let format: LogFormat = 'text';
/** Notes that wait for their format. Undefined once it is set. */
let buffered: [message: string, level: NoteLevel][] | undefined;

/** Keeps notes back until setNoteFormat() sets their format. */
export function bufferNotes(): void {
  buffered ??= [];
}

/** Sets the format of buffered notes and of all further ones. */
export function setNoteFormat(wanted: LogFormat): void {
  format = wanted;
  if (format === 'json') noteNodeWarnings();
  const waiting = buffered ?? [];
  buffered = undefined;
  for (const [message, level] of waiting) note(message, level);
}

/** Returns the format of notes. While they wait for one, sets it to `fallback()`. */
export function ensureNoteFormat(fallback: () => LogFormat): LogFormat {
  if (buffered !== undefined) setNoteFormat(fallback());
  return format;
}

/** Turns Node's own warnings into notes. Otherwise they are text, even with format JSON. */
function noteNodeWarnings(): void {
  const [nodes] = process.listeners('warning').filter(({ name }) => name === 'onWarning');
  if (nodes === undefined) return; // --no-warnings, or replaced already
  process.off('warning', nodes);
  process.on('warning', ({ name, message }) => note(`${name}: ${message}`, 'warning'));
}

/** Writes one line to stderr. Escapes control characters, which names of files may contain. */
export function note(message: string, level: NoteLevel = 'info'): void {
  if (buffered !== undefined) return void buffered.push([message, level]);
  const line =
    format === 'json'
      ? printableJson({ time: new Date().toISOString(), level, message })
      : `nixl-otel: ${level === 'info' ? '' : `${level}: `}${printable(message)}`;
  process.stderr.write(`${line}\n`);
}

export function warnOnce(): (message: string) => void {
  const written = new Set<string>();
  return (message) => {
    if (!written.has(message)) note(message, 'warning');
    written.add(message);
  };
}
