/**
 * `node --import opentelemetry-instrumentation-nixl/register app.mjs` (or `--require`): registers the instrumentation
 * with the OpenTelemetry SDK of the program, if it starts before this module or after it. Options come from the environment.
 * It acts on the main thread only: a worker runs `--import` again and would export every event a second time.
 * It never stops the program: a failure is one line through OpenTelemetry's `diag`, or on stderr. A program without an SDK
 * has no logger for `diag`, so the warning about a missing SDK is on stderr.
 */
import { isMainThread } from 'node:worker_threads';
import { reasonOf } from './ground/errors.js';
import { Inside } from './ground/inside.js';
import { NixlInstrumentation } from './instrumentation/instrumentation.js';

try {
  // The instrumentation finds the global provider by itself, as soon as one is set.
  if (isMainThread) {
    const onNoReader = (message: string): void => process.emitWarning(`NIXL telemetry: ${message}`);
    new NixlInstrumentation({}, new Inside({ name: 'opentelemetry-instrumentation-nixl/register', onNoReader }));
  }
} catch (error) {
  process.emitWarning(`NIXL telemetry is off: ${reasonOf(error)}`);
}
