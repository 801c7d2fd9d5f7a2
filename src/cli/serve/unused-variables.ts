/** Variables that are set, look as if they were meant for serve, and are read by nothing in it. Pure. */
import { CONFIG_VARIABLE } from '../../settings/config-file.js';
import { type Environment, OPTION_VARIABLES } from '../../settings/environment.js';
import { nixlExporter } from './nixl-environment.js';
import { OTLP_VARIABLES } from './otlp-environment.js';
import { type ServeSettings, SETTINGS } from './setting-rows.js';
import { BUILT_IN_EXPORTERS } from './custom-exporter.js';

const OURS = /^(OTEL|NIXL_TELEMETRY|NIXL_OTEL)_/;

const READ: ReadonlySet<string> = new Set([
  ...SETTINGS.flatMap(({ environment = [] }) => environment.map(({ variable }) => variable)),
  ...OPTION_VARIABLES,
  ...OTLP_VARIABLES,
  CONFIG_VARIABLE,
  'NIXL_TELEMETRY_ENABLE',
  'OTEL_LOG_LEVEL',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SDK_DISABLED',
  'OTEL_SERVICE_NAME',
]);

/** Meant for agents, other signals, instrumentations, injectors, SDKs in other languages; or parts of OTEL_RESOURCE_ATTRIBUTES. */
const OF_OTHERS = [
  /^NIXL_TELEMETRY_BUFFER_SIZE$/,
  /^OTEL_(EXPORTER_OTLP_)?(TRACES?|LOGS?|PROFILES?)_/,
  /^OTEL_(BSP|BLRP|SPAN|LOGRECORD|EVENT|LINK|ATTRIBUTE|EXPORTER_JAEGER|EXPORTER_ZIPKIN)_/,
  /^OTEL_(PROPAGATORS|SEMCONV_STABILITY_OPT_IN)$/,
  /^OTEL_(INSTRUMENTATION|INJECTOR|EBPF|CPP|DOTNET|GO|JAVA|JAVAAGENT|PHP|PYTHON|RUBY|RUST)_/,
  /^OTEL_(RESOURCE_ATTRIBUTES_|K8S_|POD_IP$|NODE_IP$)/,
];

/** Returns each name, with what it would need where that is known. */
export function unusedVariables({ exporter, otlpProtocol }: ServeSettings, environment: Environment): string[] {
  const isOwn = exporter.some((name) => !BUILT_IN_EXPORTERS.includes(name));
  const hasOtlp = exporter.includes('otlp') || isOwn;
  const given = Object.keys(environment).filter((name) => OURS.test(name) && environment[name]?.trim());
  return given.sort().flatMap((name) => {
    if (!READ.has(name))
      return OF_OTHERS.some((one) => one.test(name)) || isServiceLink(name, environment) ? [] : [name];
    if (OTLP_VARIABLES.includes(name)) {
      if (!hasOtlp) return [`${name} (needs the exporter otlp)`];
      const isUnused = name.endsWith('_INSECURE') && otlpProtocol !== 'grpc' && !isOwn;
      return isUnused ? [`${name} (needs --otlp-protocol grpc)`] : [];
    }
    if (name === 'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH' && nixlExporter(environment) === undefined && !isOwn) {
      return [`${name} (needs NIXL_TELEMETRY_EXPORTER)`];
    }
    return [];
  });
}

/** Recognises what Kubernetes sets for a service: NAME_SERVICE_HOST, NAME_PORT_4317_TCP and so on, as of one named otel-collector. */
function isServiceLink(name: string, environment: Environment): boolean {
  const [, service] =
    /^(.*?)_(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_.*)?)?)$/.exec(name) ?? [];
  return service !== undefined && environment[`${service}_SERVICE_HOST`] !== undefined;
}
