/** Data goes to stdout, notes to stderr. */
import { diag, type DiagLogger, DiagLogLevel } from '@opentelemetry/api';
import { printable, printableJson } from '../instrumentation/one-line.js';

/** For names in text. */
export { oneLine as harmless } from '../instrumentation/one-line.js';

/** Called once when whoever read our stdout is gone. */
let onStdoutClosed = (): void => {};

export function whenStdoutCloses(action: () => void): void {
  onStdoutClosed = action;
}

/** `nixl-otel demo | head -3` is a way to use it, not an error. */
export function muteClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // EIO is what is left of a terminal that was closed.
      const isGone = error.code === 'EPIPE' || (error.code === 'EIO' && (stream as { isTTY?: boolean }).isTTY === true);
      if (!isGone) throw error;
      if (stream === process.stdout) onStdoutClosed();
    });
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export type NoteLevel = 'error' | 'warning' | 'info' | 'debug' | 'verbose';

let format: 'text' | 'json' = 'text';

/** Of every further note. */
export function useNoteFormat(wanted: 'text' | 'json'): void {
  format = wanted;
}

/** One line on stderr. Control characters in it, of file names say, stay text. */
export function note(message: string, level: NoteLevel = 'info'): void {
  const line =
    format === 'json'
      ? printableJson({ time: new Date().toISOString(), level, message })
      : `nixl-otel: ${level === 'info' ? '' : `${level}: `}${printable(message)}`;
  process.stderr.write(`${line}\n`);
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

const LEVELS: Readonly<Record<string, DiagLogLevel>> = {
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
  const level = LEVELS[asked.toLowerCase()];
  diag.setLogger(stderrLogger(), { logLevel: level ?? DiagLogLevel.INFO, suppressOverrideMessage: true });
  // The OpenTelemetry specification wants unknown values of its variables passed over with a warning.
  if (level === undefined) {
    diag.warn(`OTEL_LOG_LEVEL is "${asked}"; allowed: ${Object.keys(LEVELS).join(', ')}; info is used`);
  }
}

function stderrLogger(): DiagLogger {
  const at =
    (level: NoteLevel) =>
    (...parts: unknown[]) =>
      note(parts.map(asText).join(' '), level);
  return { error: at('error'), warn: at('warning'), info: at('info'), debug: at('debug'), verbose: at('verbose') };
}

function asText(part: unknown): string {
  if (part instanceof Error) return part.message;
  return typeof part === 'string' ? part : JSON.stringify(part);
}
