/** Custom exporters: modules that are found, loaded and checked before the source opens. See docs/write-an-exporter.md. */
import { intervalText } from '../../ground/figures/clock.js';
import { fileURLToPath } from 'node:url';
import type { Resource } from '@opentelemetry/resources';
import type { IMetricReader, MetricProducer, PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { isObject } from '../../ground/arguments.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import { madeBy } from '../../settings/user-module.js';
import { locateExporter } from './exporter-settings.js';
import { Failure, orFailure } from '../../process/failure.js';
import type { Owner } from './owners.js';

/** Argument of a module's function. */
interface ExporterContext {
  /** Name in the settings. */
  readonly name: string;
  readonly settings: Readonly<ServeSettings>;
  readonly resource: Resource;
  /** Producer for the `metricProducers` of a reader. A reader made without it gets it by setMetricProducer(). */
  readonly metricProducer: MetricProducer;
  /** Value of NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH, if set. */
  readonly outputPath?: string;
}

type Selector = 'selectAggregation' | 'selectAggregationTemporality';

/** Readers that do not extend the SDK's class may lack selectors. */
export type CustomReader = Omit<IMetricReader, Selector> & Partial<Pick<IMetricReader, Selector>>;

/** Time limit for loading a module, and again for making its exporter. */
const LOAD_LIMIT_MS = 10_000;
const ALLOWED =
  'export default (or as "exporter") a PushMetricExporter, a MetricReader, or a function that returns one of them';

/** Loads an exporter. @throws Failure if the module is missing, cannot be loaded, or exports no exporter. */
export async function loadExporter(context: ExporterContext, owner: Owner): Promise<PushMetricExporter | CustomReader> {
  const { name, settings } = context;
  const file = locateExporter(name, settings.exporterDir);
  owner.files.push(file, fileURLToPath(file));
  const module = await orFailure(`exporter ${name} cannot be loaded`, () =>
    inTime(owner.run(() => import(file) as Promise<Record<string, unknown>>)),
  );
  return owner.run(() => exporterIn(module, context));
}

async function exporterIn(module: Record<string, unknown>, context: ExporterContext) {
  const { name } = context;
  const found = exportOf(module);
  if (found === undefined) throw new Failure(`exporter ${name}: the module exports no exporter; ${ALLOWED}`);
  const make = () =>
    inTime(Promise.resolve().then(() => madeBy(found as (context: ExporterContext) => unknown, context)));
  const made =
    typeof found === 'function' ? await orFailure(`exporter ${name} failed when it was created`, make) : found;
  if (isExporter(made) || isReader(made)) return made;
  throw new Failure(`exporter ${name} is ${shapeOf(made)}; ${ALLOWED}`);
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${intervalText(LOAD_LIMIT_MS)}`)), LOAD_LIMIT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The default export is `module.exports` of a CommonJS module, or its `exports.default`. */
function exportOf(module: Record<string, unknown>): unknown {
  const { default: first, exporter } = module;
  const nested = isObject(first) ? first : {};
  if (isExporter(first) || isReader(first)) return first;
  return exporter ?? nested['default'] ?? nested['exporter'] ?? first;
}

export function isExporter(value: unknown): value is PushMetricExporter {
  return hasMethods(value, ['export', 'forceFlush', 'shutdown']);
}

function isReader(value: unknown): value is CustomReader {
  return hasMethods(value, ['collect', 'setMetricProducer', 'forceFlush', 'shutdown']);
}

function hasMethods(value: unknown, methods: readonly string[]): boolean {
  return isObject(value) && methods.every((method) => typeof value[method] === 'function');
}

function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `${value === null ? 'null' : typeof value}`;
  const missing = ['export', 'forceFlush', 'shutdown'].filter((method) => !hasMethods(value, [method]));
  return `an object without ${missing.join('() and ')}()`;
}
