/** Variables that switch telemetry off. */
import { onOrOff } from '../../settings/nixl-variables.js';
import { parseVariable } from '../../settings/resolve.js';
import type { Environment } from '../../settings/row.js';

/**
 * Returns the reason why serve has nothing to do; undefined when it has.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function switchedOff(environment: Environment): string | undefined {
  if (sdkDisabled(environment) === 'true') return 'OTEL_SDK_DISABLED is true: nothing is read or exported';
  const { NIXL_TELEMETRY_ENABLE: enable } = environment;
  if (!enable || parseVariable('NIXL_TELEMETRY_ENABLE', enable, onOrOff)) return undefined;
  return `NIXL_TELEMETRY_ENABLE is ${enable}: nothing is read or exported`;
}

/** Returns a warning about a variable that looks like a switch but is none. */
export function switchWarning(environment: Environment): string | undefined {
  if (['', 'true', 'false'].includes(sdkDisabled(environment))) return undefined;
  return `OTEL_SDK_DISABLED is '${environment['OTEL_SDK_DISABLED']}', which does not disable serve: by OpenTelemetry's specification only true does`;
}

function sdkDisabled({ OTEL_SDK_DISABLED: value = '' }: Environment): string {
  return value.trim().toLowerCase();
}
