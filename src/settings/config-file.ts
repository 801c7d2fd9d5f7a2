/** A configuration file, YAML or JSON: the options under their own names, and a section for `nixl-otel serve`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { NixlTelemetryError, reasonOf } from '../errors.js';
import type { NixlOptions } from './options.js';
import { builderFromModule } from '../instrumentation/builders/user-module.js';
import { MODULE_PATH } from '../instrumentation/builders/user-module.js';
import type { MetricBuilder } from '../instrumentation/builders/metric-builder.js';
import { type BuilderName, BUILDER_NAMES } from '../instrumentation/builders/metric-processor.js';
import { readJson } from './json-text.js';
import { lineAndColumn, type Located } from './located.js';
import { SETTINGS } from './settings.js';
import { anyObject, object, type Path, pathText, type Shape } from './shape.js';
import { readYaml } from './yaml-text.js';

/** Names a configuration file. */
export const CONFIG_VARIABLE = 'NIXL_OTEL_CONFIG';

/** What a file may hold besides the section `serve`. */
export const FILE_OPTIONS = [
  'directories',
  'globs',
  'naming',
  'nixlRelease',
  'nixlLabels',
  'hostname',
  'drainIntervalMs',
  'deadTtlMs',
  'idleTtlMs',
  'force',
  'owners',
  'enabledMetrics',
  'attributes',
  'rankVariable',
  'customEvents',
  'builders',
  'histogramBounds',
  'durationBoundsUs',
  'sizeBounds',
  'throughputBounds',
  'seriesLimit',
  'durationBudgetMs',
] as const;

/** Options of the instrumentation's own instruments: a producer has no use for them. */
export const FOR_INSTRUMENTS = ['seriesLimit', 'durationBudgetMs'] as const;
type ForInstruments = (typeof FOR_INSTRUMENTS)[number];

export function isForInstruments(name: string): name is ForInstruments {
  return FOR_INSTRUMENTS.includes(name as ForInstruments);
}

export type FileOptions = Pick<NixlOptions, Exclude<(typeof FILE_OPTIONS)[number], ForInstruments>> & {
  readonly [Name in ForInstruments]?: number;
};

/** What stands in a file; modules by their absolute paths. */
export interface WrittenSettings {
  readonly written: Readonly<Record<string, unknown>>;
  readonly serve: Readonly<Record<string, unknown>>;
  /** Returns `file:line:column: key` for a path in the file. */
  readonly where: (path: Path) => string;
}

/** The whole file; `serve`: the shape of its section. */
export function fileShape(serve: Shape = anyObject): Shape {
  const { builders } = SETTINGS;
  return object({
    $schema: { ...SETTINGS.hostname, allowed: 'the address of the schema' },
    ...Object.fromEntries(FILE_OPTIONS.map((name): [string, Shape] => [name, SETTINGS[name]])),
    builders: {
      allowed: `${builders.allowed}; or the path of a module`,
      schema: {
        type: 'array',
        minItems: 1,
        items: { anyOf: [{ enum: BUILDER_NAMES }, { type: 'string', pattern: MODULE_PATH.source }] },
      },
      problems: (given, at) => builders.problems(withStandIns(given), at),
    },
    serve,
  });
}

/**
 * With a builder made of each module that the file names.
 * @throws NixlTelemetryError CONFIG_INVALID when one cannot be loaded.
 */
export function optionsOf({ written, where }: WrittenSettings): FileOptions {
  const { builders } = written as { builders?: string[] };
  if (builders === undefined) return written;
  return { ...written, builders: builders.map((one, i) => builderOf(one, where(['builders', i]))) };
}

/**
 * All but the modules of builders, which are not loaded. To be called once for a start: a pipe is empty afterwards, and a
 * file may be another one. `onText`: called with the text, before anything is refused.
 * @throws NixlTelemetryError CONFIG_INVALID with a line for each mistake: file, line, key, value and what is allowed; also
 * when it cannot be read.
 */
export function readSettings(file: string, serve?: Shape, onText?: (text: string) => void): WrittenSettings {
  const text = textOf(file);
  onText?.(text);
  const located = path.extname(file).toLowerCase() === '.json' ? readJson(text) : readYaml(text);
  const place = (offset: number): string => `${file}:${lineAndColumn(text, offset)}`;
  refuse(
    file,
    located.mistakes.map(({ offset, message }) => `${place(offset)}: ${message}`),
  );
  const content = contentOf(located, file);
  const where = (at: Path): string => `${place(located.offsetOf(at))}: ${pathText(at) || 'the file'}`;
  const problems = fileShape(serve).problems(content);
  refuse(
    file,
    problems.map((problem) => `${where(problem.path)} ${problem.text}`),
  );
  const { serve: section = {}, ...written } = content as Record<string, unknown>;
  delete written['$schema'];
  const { builders } = written as { builders?: string[] };
  if (builders !== undefined) written['builders'] = builders.map((one) => absolute(one, file));
  return { written, serve: section as Record<string, unknown>, where };
}

function contentOf(located: Located, file: string): unknown {
  try {
    return located.value();
  } catch (error) {
    // Aliases of aliases, as a rule, that come to more than would fit into memory.
    throw new NixlTelemetryError('CONFIG_INVALID', `${file}: ${reasonOf(error)}`, { path: file, cause: error });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw new NixlTelemetryError('CONFIG_INVALID', `the configuration file cannot be read: ${reasonOf(error)}`, {
      path: file,
      cause: error,
    });
  }
}

function isModulePath(given: unknown): given is string {
  return typeof given === 'string' && MODULE_PATH.test(given);
}

/** Where the paths of modules stand, builders that pass take their places, one per path: indices stay what they are. */
function withStandIns(given: unknown): unknown {
  if (!Array.isArray(given)) return given;
  const standIns = new Map<string, MetricBuilder>();
  return given.map((one: unknown) => {
    if (!isModulePath(one)) return one;
    const standIn = standIns.get(one) ?? { name: one, create() {} };
    standIns.set(one, standIn);
    return standIn;
  });
}

function absolute(builder: string, file: string): string {
  return isModulePath(builder) ? path.resolve(path.dirname(file), builder) : builder;
}

/** `where`: the place in the file, for errors. */
function builderOf(one: string, where: string): BuilderName | MetricBuilder {
  if (!isModulePath(one)) return one;
  try {
    return builderFromModule(one);
  } catch (error) {
    if (!(error instanceof NixlTelemetryError)) throw error;
    throw new NixlTelemetryError(error.code, `${where}: ${error.message}`, { path: one, cause: error.cause });
  }
}

function refuse(file: string, mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new NixlTelemetryError('CONFIG_INVALID', mistakes.join('\n'), { path: file });
}
