/** A configuration file, YAML or JSON: the options under their own names, and a section for `nixl-otel serve`. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { NixlTelemetryError } from '../ground/errors.js';
import { checkedText, orInvalid } from './checked-text.js';
import { BUILDERS_IN_FILE } from './event-shapes.js';
import type { BuilderName, MetricBuilder } from './metric-builder.js';
import { OPTION_ROWS } from './option-rows.js';
import { described, fileFields, withAbsolutePaths } from './row.js';
import { anyObject, object, type Path, type Shape, text } from './shape.js';
import { builderFromModule, isModulePath } from './user-module.js';

/** Contents of a file. */
export interface WrittenSettings {
  readonly path: string;
  /** Folder that relative paths begin at. */
  readonly folder: string;
  readonly written: Readonly<Record<string, unknown>>;
  readonly serve: Readonly<Record<string, unknown>>;
  /** Returns `file:line:column: key` for a path in the file. */
  readonly where: (path: Path) => string;
}

/** Shape of the whole file. `serve`: shape of its section. */
export function fileShape(serve: Shape = anyObject): Shape {
  return object({
    $schema: { ...text, allowed: 'the address of the schema' },
    ...fileFields(OPTION_ROWS, (row) => described(row)),
    builders: described(OPTION_ROWS.builders, BUILDERS_IN_FILE),
    serve,
  });
}

/** Returns the JSON Schema of configuration files, for editors. */
export function configSchema(serve: Shape): Record<string, unknown> {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of opentelemetry-instrumentation-nixl',
    ...fileShape(serve).schema,
  };
}

/**
 * Loads a builder from each module that the file names.
 * @throws NixlTelemetryError CONFIG_INVALID, with the place in the file, if one cannot be loaded.
 */
export function buildersOf({ folder, written, where }: WrittenSettings): (BuilderName | MetricBuilder)[] | undefined {
  const builders = withAbsolutePaths(OPTION_ROWS.builders, written['builders'], folder) as BuilderName[] | undefined;
  return builders?.map((one, i) => {
    if (!isModulePath(one)) return one;
    try {
      return builderFromModule(one);
    } catch (error) {
      if (!(error instanceof NixlTelemetryError)) throw error;
      const message = `${where(['builders', i])}: ${error.message}`;
      throw new NixlTelemetryError(error.code, message, { path: one, cause: error.cause });
    }
  });
}

/**
 * Reads and checks a file, but loads no modules of builders. Call it once per start: a pipe is empty afterwards, and a file
 * may have changed. `onText`: called with the text, before anything is refused.
 * @throws NixlTelemetryError CONFIG_INVALID if the file cannot be read, or with a line for each mistake: file, line, key,
 * value and allowed values.
 */
export function readSettings(file: string, serve?: Shape, onText?: (text: string) => void): WrittenSettings {
  const { text, folder } = orInvalid(file, 'the configuration file cannot be read', () => ({
    text: readFileSync(file, 'utf8').replace(/^\uFEFF/, ''),
    folder: folderOf(file),
  }));
  onText?.(text);
  const { value, where } = checkedText(file, text, fileShape(serve));
  const { serve: section = {}, ...written } = value as Record<string, unknown>;
  delete written['$schema'];
  return { path: file, folder, written, serve: section as Record<string, unknown>, where };
}

/** A pipe and a descriptor, as `/dev/stdin`, have no folder: paths begin at the working directory. */
function folderOf(file: string): string {
  const isDescriptor = /^\/(dev\/(fd\/|stdin$)|proc\/)/.test(path.resolve(file));
  return isDescriptor || !statSync(file).isFile() ? process.cwd() : path.dirname(file);
}
