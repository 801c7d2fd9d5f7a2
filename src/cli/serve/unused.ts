/** Settings and variables without effect: a file without the exporter that writes it, an interval without a push. Pure. */
import { InvalidArgumentError } from 'commander';
import { invalid } from '../../arguments.js';
import type { WrittenSettings } from '../../settings/file.js';
import { nixlExporter } from '../../settings/nixl-variables.js';
import { OPTION_ROWS } from '../../settings/option-rows.js';
import { type Environment, flagName, isDefault, variablesOf, type Resolution } from '../../settings/row.js';
import { SERVE_ROWS, type ServeSettings } from '../../settings/serve-rows.js';
import { MODULE_PATH } from '../../settings/user-module.js';
import { BUILT_IN_EXPORTERS } from './custom-exporter.js';
import { OTLP_VARIABLES } from './otlp-environment.js';

interface Context {
  readonly exporters: readonly string[];
  /** A custom exporter gets all settings, and may use any. */
  readonly hasCustom: boolean;
  readonly listens: boolean;
}

interface Need {
  readonly keys: readonly (keyof typeof SERVE_ROWS)[];
  readonly isMet: (context: Context) => boolean;
  readonly what: string;
}

const NEEDS: readonly Need[] = [
  {
    keys: ['consoleFile'],
    isMet: ({ exporters, hasCustom }) => hasCustom || exporters.includes('console'),
    what: 'the exporter console',
  },
  {
    keys: ['otlpEndpoint', 'otlpProtocol', 'temporality'],
    isMet: ({ exporters, hasCustom }) => hasCustom || exporters.includes('otlp'),
    what: 'the exporter otlp',
  },
  {
    keys: ['exportInterval', 'exportTimeout'],
    isMet: ({ exporters }) => exporters.some((name) => name !== 'prometheus'),
    what: 'an exporter that pushes',
  },
  {
    keys: ['exporterDir'],
    isMet: ({ exporters }) => exporters.some((name) => isCustom(name) && !MODULE_PATH.test(name)),
    what: 'an exporter NAME that is neither built in nor a path',
  },
  {
    keys: ['host', 'port', 'page'],
    isMet: ({ listens }) => listens,
    what: 'the HTTP server: the exporter prometheus, or --host or --port',
  },
];

/** Without the exporter prometheus only health is served, and only at an address that a flag or the file gives. */
export function listens(resolved: Resolution): boolean {
  const isAddressGiven = ['port', 'host'].some((key) => ['flag', 'file'].includes(resolved.get(key)!.origin));
  return exportersIn(resolved).includes('prometheus') || isAddressGiven;
}

/**
 * Returns settings without effect that need not be mistakes, each with what it needs: variables, which may be meant for another
 * program, and keys of the file where a flag or a variable replaces the exporters of the file.
 * @throws InvalidArgumentError for a flag; NixlTelemetryError CONFIG_INVALID with its place for a key of the file.
 */
export function unusedSettings(resolved: Resolution, file: WrittenSettings | undefined): string[] {
  const exporters = exportersIn(resolved);
  if (exporters.includes('none')) return [];
  const context = { exporters, hasCustom: exporters.some(isCustom), listens: listens(resolved) };
  const areFromFile = ['file', 'default'].includes(resolved.get('exporter')!.origin);
  const unused = new Map<string, string>();
  for (const { keys, isMet, what } of NEEDS) {
    if (isMet(context)) continue;
    for (const key of keys) {
      const { origin, value } = resolved.get(key) ?? { origin: 'default' };
      if (origin === 'default' || value === 'off') continue;
      const needs = `needs ${what}; the exporters are ${exporters.join(', ')}`;
      if (origin === 'flag') throw new InvalidArgumentError(`${flagName(SERVE_ROWS[key])} ${needs}`);
      if (origin === 'file' && isDefault(SERVE_ROWS[key], value)) continue; // as `config print` writes it
      if (origin === 'file' && areFromFile) throw invalid(`${file!.where(['serve', key])} ${needs}`);
      unused.set(origin === 'file' ? `serve.${key} of the configuration file` : origin, what);
    }
  }
  return [...unused].map(([name, what]) => `${name} (needs ${what})`);
}

function exportersIn(resolved: Resolution): readonly string[] {
  return resolved.get('exporter')!.value as readonly string[];
}

function isCustom(name: string): boolean {
  return name !== 'none' && !BUILT_IN_EXPORTERS.includes(name);
}

const OURS = /^(OTEL|NIXL_TELEMETRY|NIXL_OTEL)_/;

const READ: ReadonlySet<string> = new Set([
  ...variablesOf(OPTION_ROWS),
  ...variablesOf(SERVE_ROWS),
  ...OTLP_VARIABLES,
  'NIXL_TELEMETRY_ENABLE',
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

/** Returns each variable that serve does not use, with what it would need where that is known. */
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
