/**
 * `node --import opentelemetry-instrumentation-nixl/register app.mjs` (or `--require`): registers the instrumentation
 * with whatever OpenTelemetry SDK the program starts, before this line or after it. Options come from the environment.
 * On the main thread only: a worker runs what --import names once more, and every event would be exported once more.
 * Never stands in the way of the program: what goes wrong is one line through OpenTelemetry's `diag`, or on stderr while
 * nobody listens there.
 */
import { isMainThread } from 'node:worker_threads';
import { reasonOf } from './errors.js';
import { NixlInstrumentation } from './instrumentation/index.js';

try {
  // It looks for the global provider by itself, until there is one.
  if (isMainThread) new NixlInstrumentation({}, { name: 'opentelemetry-instrumentation-nixl/register' });
} catch (error) {
  process.emitWarning(`NIXL telemetry is off: ${reasonOf(error)}`);
}
