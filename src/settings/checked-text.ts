/** Text of a YAML or JSON file, parsed and checked against a shape. Each mistake has its place in the file. */
import path from 'node:path';
import { NixlTelemetryError, reasonOf } from '../ground/errors.js';
import { readJson } from './json-text.js';
import { lineAndColumn } from './located.js';
import { type Path, pathText, type Shape } from './shape.js';
import { readYaml } from './yaml-text.js';

export interface CheckedText {
  readonly value: unknown;
  /** Returns `file:line:column: key` for a path in the file. */
  readonly where: (path: Path) => string;
}

/**
 * A file named `*.json` must be strict JSON.
 * @throws NixlTelemetryError CONFIG_INVALID with a line for each mistake: file, line, key, value and allowed values.
 */
export function checkedText(file: string, text: string, shape: Shape): CheckedText {
  const located = path.extname(file).toLowerCase() === '.json' ? readJson(text) : readYaml(text);
  const place = (offset: number): string => `${file}:${lineAndColumn(text, offset)}`;
  refuse(
    file,
    located.mistakes.map(({ offset, message }) => `${place(offset)}: ${message}`),
  );
  // Throws if nested aliases would expand too far: they could fill the memory.
  const value = orInvalid(file, file, located.value);
  const where = (at: Path): string => `${place(located.offsetOf(at))}: ${pathText(at) || 'the file'}`;
  const problems = shape.problems(value);
  refuse(
    file,
    problems.map((problem) => `${where(problem.path)} ${problem.text}`),
  );
  return { value, where };
}

/** @throws NixlTelemetryError CONFIG_INVALID in place of another error. */
export function orInvalid<T>(file: string, prefix: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new NixlTelemetryError('CONFIG_INVALID', `${prefix}: ${reasonOf(cause)}`, { path: file, cause });
  }
}

function refuse(file: string, mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new NixlTelemetryError('CONFIG_INVALID', mistakes.join('\n'), { path: file });
}
