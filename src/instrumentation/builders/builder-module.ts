/** Builders that a configuration file names by the path of a module. */
import { createRequire } from 'node:module';
import { NixlTelemetryError, reasonOf } from '../../errors.js';
import { madeBy, runBuilderCode } from './user-module.js';
import type { MetricBuilder } from './metric-builder.js';

const ALLOWED =
  'export default (or as "builder") an object with name and create(), or a class or function that makes one';

/**
 * Synchronously, as the rest of a configuration is read: the module may not await at its top level.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function builderFromModule(file: string): MetricBuilder {
  let made: unknown;
  try {
    made = runBuilderCode({ name: file, file }, () => {
      const module = createRequire(import.meta.url)(file) as Record<string, unknown>;
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
  throw new NixlTelemetryError('CONFIG_INVALID', `builder ${file} is none; ${ALLOWED}`, { path: file });
}
