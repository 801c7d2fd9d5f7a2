/** Modules that a user names, and the code of custom builders. */
import { createRequire } from 'node:module';
import { NixlTelemetryError, reasonOf } from '../../errors.js';
import type { MetricBuilder } from './metric-builder.js';

/** Matches paths: other names are those of packages or built-in parts. */
export const MODULE_PATH = /^\.{0,2}\//;

/** Calls a function, or a class with `new`. Throws what it throws. */
export function madeBy<A extends unknown[]>(maker: (...args: A) => unknown, ...args: A): unknown {
  const isClass = /^class\b/.test(Function.prototype.toString.call(maker));
  return isClass ? Reflect.construct(maker, args) : maker(...args);
}

/** A builder, or the file that one is loaded from. */
export interface BuilderCode {
  readonly name: string;
  readonly file?: string;
}

type BuilderRunner = <T>(builder: BuilderCode, work: () => T) => T;

let runner: BuilderRunner = (_, work) => work();

/** Sets the runner of all builder code. For serve, which traces errors to a builder; a service's process is not ours. */
export function runBuilderCodeBy(run: BuilderRunner): void {
  runner = run;
}

export function runBuilderCode<T>(builder: BuilderCode, work: () => T): T {
  return runner(builder, work);
}

const ALLOWED =
  'export default (or as "builder") an object with name and create(), or a class or function that makes one';

/**
 * Loads the builder of a configuration file. Synchronous, as the rest of a configuration: the module may not await at its
 * top level. `file`: an absolute path.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function builderFromModule(file: string): MetricBuilder {
  let made: unknown;
  try {
    made = runBuilderCode({ name: file, file }, () => {
      const module = createRequire(file)(file) as Record<string, unknown>;
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
