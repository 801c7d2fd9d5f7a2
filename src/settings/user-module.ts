/** Modules of the user, named in flags and configuration files: their paths, and the objects made of their exports. */
import { NixlTelemetryError, reasonOf } from '../ground/errors.js';
import { requireFrom } from '../ground/require-from.js';
import type { MetricBuilder } from './metric-builder.js';

/** Distinguishes a path from the name of a built-in or a package. */
export const MODULE_PATH = /^\.{0,2}\//;

export function isModulePath(given: unknown): given is string {
  return typeof given === 'string' && MODULE_PATH.test(given);
}

/** Calls a function, or a class with `new`. Throws the errors of `maker`. */
export function madeBy<A extends unknown[]>(maker: (...args: A) => unknown, ...args: A): unknown {
  const isClass = /^class\b/.test(Function.prototype.toString.call(maker));
  return isClass ? Reflect.construct(maker, args) : maker(...args);
}

/** Identity of a builder's code: the builder itself, or the file that it is loaded from. */
export interface BuilderCode {
  readonly name: string;
  readonly file?: string;
}

type BuilderRunner = <T>(builder: BuilderCode, work: () => T) => T;

let runner: BuilderRunner = (_, work) => work();

/** Sets the runner of builder code: serve follows its asynchronous work. In a service the code runs without a runner. */
export function runBuilderCodeBy(run: BuilderRunner): void {
  runner = run;
}

export function runBuilderCode<T>(builder: BuilderCode, work: () => T): T {
  return runner(builder, work);
}

const ALLOWED =
  'export default (or as "builder") an object with name and create(), or a class or function that makes one';

/**
 * Loads a builder synchronously, as the rest of a configuration is read: its module must not await at its top level.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function builderFromModule(file: string): MetricBuilder {
  let made: unknown;
  try {
    made = runBuilderCode({ name: file, file }, () => {
      const module = requireFrom(file)(file) as Record<string, unknown>;
      const found = module['default'] ?? module['builder'] ?? module;
      return typeof found === 'function' ? madeBy(found as () => unknown) : found;
    });
  } catch (error) {
    throw new NixlTelemetryError('CONFIG_INVALID', `builder ${file} cannot be loaded: ${reasonOf(error)}`, {
      path: file,
      cause: error,
    });
  }
  const { name, create } = (typeof made === 'object' && made !== null ? made : {}) as Partial<MetricBuilder>;
  if (typeof name === 'string' && typeof create === 'function') return made as MetricBuilder;
  throw new NixlTelemetryError('CONFIG_INVALID', `builder ${file} is not a builder; ${ALLOWED}`, { path: file });
}
