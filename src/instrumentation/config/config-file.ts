/** A configuration file, YAML or JSON: the options under their own names, and a section for `nixl-otel serve`. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type * as Yaml from 'yaml';
import { NixlTelemetryError, reasonOf } from '../../errors.js';
import type { NixlOptions } from './options.js';
import { builderFromModule } from '../builders/builder-module.js';
import { MODULE_PATH } from '../builders/user-module.js';
import type { MetricBuilder } from '../builders/metric-builder.js';
import { type BuilderName, BUILDER_NAMES } from '../builders/metric-processor.js';
import { SETTINGS } from './settings.js';
import { anyObject, object, type Path, pathText, type Shape } from './shape.js';

/** Names a configuration file. */
export const CONFIG_VARIABLE = 'NIXL_OTEL_CONFIG';

/** What a file may hold besides the section `serve`. */
export const FILE_OPTIONS = [
  'directories',
  'globs',
  'naming',
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
export function optionsOf({ written }: WrittenSettings): FileOptions {
  const { builders } = written as { builders?: string[] };
  return builders === undefined ? written : { ...written, builders: builders.map(builderOf) };
}

/**
 * All but the modules of builders, which are not loaded. To be called once for a start: a pipe is empty afterwards, and a
 * file may be another one.
 * @throws NixlTelemetryError CONFIG_INVALID with a line for each mistake: file, line, key, value and what is allowed; also
 * when it cannot be read.
 */
export function readSettings(file: string, serve?: Shape): WrittenSettings {
  const { LineCounter, parseDocument, visit } = createRequire(import.meta.url)('yaml') as typeof Yaml;
  const lines = new LineCounter();
  const document = parseDocument(textOf(file), { lineCounter: lines, prettyErrors: false });
  const told = (offset: number, message: string): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}: ${message}`;
  };
  refuse(
    file,
    document.errors.map(({ pos, message }) => told(pos[0], message)),
  );
  const misled: string[] = [];
  visit(document, {
    Alias(_, alias, around) {
      const meant = alias.resolve(document);
      const problem = meant === undefined ? noAnchor : around.includes(meant) ? cyclic : undefined;
      if (problem !== undefined) misled.push(told(alias.range?.[0] ?? 0, problem(alias.source)));
    },
  });
  refuse(file, misled);
  const content = contentOf(document, file);
  const problems = fileShape(serve).problems(content);
  refuse(
    file,
    problems.map(({ path, text }) => told(offsetOf(document, path), `${pathText(path) || 'the file'} ${text}`)),
  );
  const { serve: section = {}, ...written } = content as Record<string, unknown>;
  delete written['$schema'];
  const { builders } = written as { builders?: string[] };
  if (builders !== undefined) written['builders'] = builders.map((one) => absolute(one, file));
  return { written, serve: section as Record<string, unknown> };
}

/** A glob that begins with `*` is what most of them were meant to be. */
function noAnchor(name: string): string {
  return `*${name} is an alias in YAML, and nothing has its anchor &${name}; text that begins with * needs quotes: '*${name}'`;
}

function cyclic(name: string): string {
  return `*${name} is an alias for what it stands in itself, from &${name} on: that would never end`;
}

function contentOf(document: Yaml.Document, file: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    // Aliases of aliases, as a rule, that come to more than would fit into memory.
    throw new NixlTelemetryError('CONFIG_INVALID', `${file}: ${reasonOf(error)}`, { path: file, cause: error });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
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

function builderOf(one: string): BuilderName | MetricBuilder {
  return isModulePath(one) ? builderFromModule(one) : one;
}

/** Of the key where there is one, else of the nearest thing around it. */
function offsetOf(document: Yaml.Document, at: Path): number {
  for (let length = at.length; length > 0; length--) {
    const key = at[length - 1];
    const parent = length === 1 ? document.contents : document.getIn(at.slice(0, length - 1), true);
    const { items = [] } = (parent ?? {}) as { items?: readonly Item[] };
    const item = items.find((one, i) => (typeof key === 'number' ? i === key : one.key?.value === key));
    const start = (item?.key ?? item)?.range?.[0];
    if (start !== undefined) return start;
  }
  return 0;
}

/** A pair of a map, or an element of a list. */
interface Item {
  readonly key?: { readonly value?: unknown; readonly range?: readonly number[] };
  readonly range?: readonly number[];
}

function refuse(file: string, mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new NixlTelemetryError('CONFIG_INVALID', mistakes.join('\n'), { path: file });
}
