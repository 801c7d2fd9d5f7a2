/** Custom exporters: modules that are found, loaded and checked before anything starts. See docs/write-an-exporter.md. */
import type { Resolution } from '../../settings/row.js';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Resource } from '@opentelemetry/resources';
import type { IMetricReader, MetricProducer, PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { reasonOf } from '../../errors.js';
import type { WrittenSettings } from '../../settings/file.js';
import { madeBy, MODULE_PATH } from '../../settings/user-module.js';
import { Failure, orFailure } from '../process/failure.js';
import type { Owner } from './owners.js';
import type { ServeSettings } from '../../settings/serve-rows.js';

/** Argument of a module's function. */
export interface ExporterContext {
  /** Name in the settings. */
  readonly name: string;
  readonly settings: Readonly<ServeSettings>;
  readonly resource: Resource;
  /** Producer for the `metricProducers` of a reader. A reader made without it gets it by setMetricProducer(). */
  readonly metricProducer: MetricProducer;
  /** Value of NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH, if set. */
  readonly outputPath?: string;
}

/** Readers that do not extend the SDK's class may lack a selector of temporality. */
export type CustomReader = Omit<IMetricReader, 'selectAggregationTemporality'> &
  Partial<Pick<IMetricReader, 'selectAggregationTemporality'>>;

export type CustomExporter =
  | { readonly kind: 'exporter'; readonly exporter: PushMetricExporter }
  | { readonly kind: 'reader'; readonly reader: CustomReader };

export const BUILT_IN_EXPORTERS: readonly string[] = ['prometheus', 'otlp', 'console'];

/** Limit of loading a module, and again of making its exporter. */
const LOAD_LIMIT_MS = 10_000;
const ALLOWED =
  'export default (or as "exporter") a PushMetricExporter, a MetricReader, or a function that returns one of them';

/** @throws Failure when the module is missing, cannot be loaded, or exports no exporter. */
export async function loadExporter(context: ExporterContext, owner: Owner): Promise<CustomExporter> {
  const { name, settings } = context;
  const file = locateExporter(name, settings.exporterDir);
  owner.files.push(file, fileURLToPath(file));
  const module = await orFailure(`exporter ${name} cannot be loaded`, () =>
    inTime(owner.run(() => import(file) as Promise<Record<string, unknown>>)),
  );
  return owner.run(() => exporterIn(module, context));
}

async function exporterIn(module: Record<string, unknown>, context: ExporterContext): Promise<CustomExporter> {
  const { name } = context;
  const found = exportOf(module);
  if (found === undefined) throw new Failure(`exporter ${name}: the module exports no exporter; ${ALLOWED}`);
  const made =
    typeof found === 'function'
      ? await orFailure(`exporter ${name} failed when it was created`, () => make(found as Maker, context))
      : found;
  if (isExporter(made)) return { kind: 'exporter', exporter: made };
  if (isReader(made)) return { kind: 'reader', reader: made };
  throw new Failure(`exporter ${name} is ${shapeOf(made)}; ${ALLOWED}`);
}

type Maker = (context: ExporterContext) => unknown;

function make(maker: Maker, context: ExporterContext): Promise<unknown> {
  return inTime(Promise.resolve().then(() => madeBy(maker, context)));
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${LOAD_LIMIT_MS} ms`)), LOAD_LIMIT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The default export is `module.exports` of a CommonJS module, or its `exports.default`. */
function exportOf(module: Record<string, unknown>): unknown {
  const { default: first, exporter } = module;
  const nested = typeof first === 'object' && first !== null ? (first as Record<string, unknown>) : {};
  if (isExporter(first) || isReader(first)) return first;
  return exporter ?? nested['default'] ?? nested['exporter'] ?? first;
}

/**
 * Returns the URL of an exporter's module. A name is a path if it looks like one; then a file in the folder of exporters;
 * then a package, resolved from the working directory and from this package.
 * @throws Failure
 */
export function locateExporter(name: string, folder: string | undefined): string {
  const tried: string[] = [];
  if (folder !== undefined && !existsSync(folder))
    throw new Failure(`the folder of exporters does not exist: ${folder}`);
  if (MODULE_PATH.test(name)) {
    const file = path.resolve(name);
    if (existsSync(file)) return pathToFileURL(file).href;
    tried.push(file);
  } else {
    for (const extension of folder === undefined ? [] : ['mjs', 'js', 'cjs']) {
      const file = path.resolve(folder!, `${name}.${extension}`);
      if (existsSync(file)) return pathToFileURL(file).href;
      tried.push(file);
    }
    for (const from of [path.join(process.cwd(), 'noop.js'), import.meta.url]) {
      try {
        return pathToFileURL(createRequire(from).resolve(name)).href;
      } catch {
        // Not found from there.
      }
    }
    tried.push(`the package ${name}`);
  }
  throw new Failure(
    `there is no exporter ${name}; built in are ${BUILT_IN_EXPORTERS.join(', ')}; searched ${tried.join(', ')}`,
  );
}

/**
 * Checks that the modules of a configuration file's exporters exist, before any of them is loaded.
 * @throws Failure with the place in the file.
 */
export function locateExporters(resolved: Resolution, file: WrittenSettings | undefined): void {
  const { origin, value } = resolved.get('exporter')!;
  if (origin !== 'file') return;
  for (const [i, name] of (value as readonly string[]).entries()) {
    if (BUILT_IN_EXPORTERS.includes(name) || name === 'none') continue;
    try {
      locateExporter(name, resolved.get('exporterDir')?.value as string | undefined);
    } catch (error) {
      throw new Failure(`${file!.where(['serve', 'exporter', i])}: ${reasonOf(error)}`);
    }
  }
}

function isExporter(value: unknown): value is PushMetricExporter {
  return hasMethods(value, ['export', 'forceFlush', 'shutdown']);
}

function isReader(value: unknown): value is CustomReader {
  return hasMethods(value, ['collect', 'setMetricProducer', 'forceFlush', 'shutdown']);
}

function hasMethods(value: unknown, methods: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function');
}

function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `${value === null ? 'null' : typeof value}`;
  const missing = ['export', 'forceFlush', 'shutdown'].filter((method) => !hasMethods(value, [method]));
  return `an object without ${missing.join('() and ')}()`;
}
