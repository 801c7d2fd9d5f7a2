/**
 * `node --import opentelemetry-instrumentation-nixl/register app.mjs` (or `--require`): registers the instrumentation
 * with whatever OpenTelemetry SDK the program starts, before this line or after it. Options come from the environment.
 * Never stands in the way of the program: what goes wrong is one line through OpenTelemetry's `diag`, or on stderr while
 * nobody listens there.
 */
import { reasonOf } from './errors.js';
import { NixlInstrumentation } from './instrumentation/index.js';

try {
  // It looks for the global provider by itself, until there is one.
  new NixlInstrumentation();
} catch (error) {
  process.emitWarning(`NIXL telemetry is off: ${reasonOf(error)}`);
}
