/** OpenTelemetry's diag as notes on stderr. */
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { LOG_LEVELS } from '../settings/log-words.js';
import { note, type NoteLevel } from './output.js';

let isRepetition = (_level: NoteLevel, _line: string): boolean => false;
let isDebugging = false;

/** Writes messages of the package and of OpenTelemetry to stderr. `wanted`: the least level. */
export function logDiagToStderr(wanted = process.env['OTEL_LOG_LEVEL'] || 'info'): void {
  const name = LOG_LEVELS.find((one) => one === wanted.toLowerCase());
  const level = name && DiagLogLevel[name.toUpperCase() as Uppercase<typeof name>];
  isDebugging = (level ?? DiagLogLevel.INFO) >= DiagLogLevel.DEBUG;
  const at =
    (level: NoteLevel) =>
    (...parts: unknown[]) => {
      const line = parts.map(asText).join(' ');
      if (isDebugging || !isRepetition(level, line)) note(line, level);
    };
  const logger = {
    error: at('error'),
    warn: at('warning'),
    info: at('info'),
    debug: at('debug'),
    verbose: at('verbose'),
  };
  diag.setLogger(logger, { logLevel: level ?? DiagLogLevel.INFO, suppressOverrideMessage: true });
  // OpenTelemetry's specification demands a warning for unknown values of its variables, not an error.
  if (level === undefined) {
    diag.warn(`OTEL_LOG_LEVEL is "${wanted}"; allowed: ${LOG_LEVELS.join(', ')}; info is used`);
  }
}

/** Hides log lines that repeat another report, except at level debug. */
export function hideRepetitions(isOne: (level: NoteLevel, line: string) => boolean): void {
  isRepetition = isOne;
}

function asText(part: unknown): string {
  if (part instanceof Error) return part.message;
  return typeof part === 'string' ? part : JSON.stringify(part);
}
