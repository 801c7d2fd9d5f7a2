/** Variables that switch telemetry off, and variables without effect. Pure. */
import { invalid, shown } from '../ground/arguments.js';
import { nixlExporter, onOrOff } from './nixl-variables.js';
import { OPTION_ROWS } from './option-rows.js';
import { parseVariable } from './given.js';
import { type Environment, variablesOf } from './row.js';
import { BUILT_IN_EXPORTERS, SERVE_ROWS, type ServeSettings } from './serve-rows.js';
import { OTLP_VARIABLES } from './otlp-environment.js';

/**
 * Returns the reason why serve exports nothing; undefined if it exports.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function switchedOff(environment: Environment): string | undefined {
  if (sdkDisabled(environment) === 'true') return 'OTEL_SDK_DISABLED is true: nothing is read or exported';
  const { NIXL_TELEMETRY_ENABLE: enable } = environment;
  if (!enable || parseVariable('NIXL_TELEMETRY_ENABLE', enable, onOrOff)) return undefined;
  return `NIXL_TELEMETRY_ENABLE is ${enable}: nothing is read or exported`;
}

/**
 * By OpenTelemetry's specification, the file takes the place of all other variables.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function refuseConfigFile({ OTEL_CONFIG_FILE: file }: Environment): void {
  if (!file?.trim()) return;
  throw invalid(
    `OTEL_CONFIG_FILE is ${shown(file)}: serve does not read OpenTelemetry's configuration file; unset it for serve, and use variables, flags or --config`,
  );
}

/** Warns of a variable that looks like a switch but is none. */
export function switchWarnings(environment: Environment): string[] {
  if (['', 'true', 'false'].includes(sdkDisabled(environment))) return [];
  const given = `OTEL_SDK_DISABLED is '${environment['OTEL_SDK_DISABLED']}'`;
  return [`${given}, which does not disable serve: by OpenTelemetry's specification only true does`];
}

function sdkDisabled({ OTEL_SDK_DISABLED: value = '' }: Environment): string {
  return value.trim().toLowerCase();
}

const OURS = /^(OTEL|NIXL_TELEMETRY|NIXL_OTEL)_/;

const READ: ReadonlySet<string> = new Set([
  ...variablesOf(OPTION_ROWS),
  ...variablesOf(SERVE_ROWS),
  ...OTLP_VARIABLES,
  'NIXL_OTEL_ADDON',
  'NIXL_TELEMETRY_ENABLE',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SDK_DISABLED',
  'OTEL_SERVICE_NAME',
]);

/**
 * Variables meant for agents, other signals, instrumentations, injectors, SDKs in other languages; or parts of
 * OTEL_RESOURCE_ATTRIBUTES.
 */
const OF_OTHERS = [
  /^NIXL_TELEMETRY_BUFFER_SIZE$/,
  /^NIXL_OTEL_PASSWORD$/, // of top and doctor
  /^OTEL_(EXPORTER_OTLP_)?(TRACES?|LOGS?|PROFILES?)_/,
  /^OTEL_(BSP|BLRP|SPAN|LOGRECORD|EVENT|LINK|ATTRIBUTE|EXPORTER_JAEGER|EXPORTER_ZIPKIN)_/,
  /^OTEL_(PROPAGATORS|SEMCONV_STABILITY_OPT_IN)$/,
  /^OTEL_(INSTRUMENTATION|INJECTOR|EBPF|CPP|DOTNET|GO|JAVA|JAVAAGENT|PHP|PYTHON|RUBY|RUST)_/,
  /^OTEL_(RESOURCE_ATTRIBUTES_|K8S_|POD_IP$|NODE_IP$)/,
];

/** Returns each variable that serve does not use, with its need if that is known. */
export function unusedVariables({ exporter, otlpProtocol }: ServeSettings, environment: Environment): string[] {
  const hasCustom = exporter.some((name) => !BUILT_IN_EXPORTERS.includes(name));
  const hasOtlp = exporter.includes('otlp') || hasCustom;
  const given = Object.keys(environment).filter((name) => OURS.test(name) && environment[name]?.trim());
  return given.sort().flatMap((name) => {
    if (!READ.has(name))
      return OF_OTHERS.some((one) => one.test(name)) || isServiceLink(name, environment) ? [] : [name];
    if (OTLP_VARIABLES.includes(name)) {
      if (!hasOtlp) return [`${name} (needs the exporter otlp)`];
      const isUnused = name.endsWith('_INSECURE') && otlpProtocol !== 'grpc' && !hasCustom;
      return isUnused ? [`${name} (needs --otlp-protocol grpc)`] : [];
    }
    if (name === 'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH' && nixlExporter(environment) === undefined && !hasCustom) {
      return [`${name} (needs NIXL_TELEMETRY_EXPORTER)`];
    }
    return [];
  });
}

/** Recognises variables that Kubernetes sets for a service: NAME_SERVICE_HOST, NAME_PORT_4317_TCP and so on. */
function isServiceLink(name: string, environment: Environment): boolean {
  const [, service] =
    /^(.*?)_(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_.*)?)?)$/.exec(name) ?? [];
  return service !== undefined && environment[`${service}_SERVICE_HOST`] !== undefined;
}
