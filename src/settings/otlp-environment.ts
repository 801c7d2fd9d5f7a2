/**
 * Checks of OTEL_EXPORTER_OTLP_*, which the SDK reads itself. The SDK would ignore a wrong value with a warning, and export
 * to another collector or without the certificate. serve refuses a wrong value at its start.
 */
import { accessSync, constants, readFileSync } from 'node:fs';
import { diag } from '@opentelemetry/api';
import { invalid, shown } from '../ground/arguments.js';
import { parseVariable } from './given.js';
import type { Environment } from './row.js';
import type { ServeSettings } from './serve-rows.js';
import { httpUrl, refuse, word } from './shape.js';
import { checkHeaders } from './key-value-pairs.js';

type Protocol = ServeSettings['otlpProtocol'];

/** Returns the variables of a setting. The first overrides the second. */
function otlpVariables(name: string): string[] {
  return [`OTEL_EXPORTER_OTLP_METRICS_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
}

function endpointIn(environment: Environment): string | undefined {
  return otlpVariables('ENDPOINT')
    .map((variable) => environment[variable])
    .find((text) => text);
}

/** Returns the contents of the files that these variables name, as options of an agent of Node.js. */
export function tlsFilesIn(environment: Environment): Readonly<Record<'ca' | 'cert' | 'key', Buffer | undefined>> {
  const contentOf = (name: string): Buffer | undefined => {
    const file = otlpVariables(name).find((variable) => environment[variable]?.trim());
    return file === undefined ? undefined : readFileSync(environment[file]!.trim());
  };
  return { ca: contentOf('CERTIFICATE'), cert: contentOf('CLIENT_CERTIFICATE'), key: contentOf('CLIENT_KEY') };
}

/** Returns true if a variable limits the time of an export. */
export function isTimeoutSet(environment: Environment): boolean {
  return otlpVariables('TIMEOUT').some((variable) => environment[variable]?.trim());
}

const LOGS_PREFIX = 'OTEL_EXPORTER_OTLP_LOGS_';
const METRICS_END = /\/v1\/metrics$/;

/**
 * Returns the address for log records; undefined if the exporter takes it from its variables. An address for metrics alone has
 * another end.
 * @throws NixlTelemetryError CONFIG_INVALID if it is not known
 */
export function logsUrl(given: string | undefined, environment: Environment): string | undefined {
  if (environment[`${LOGS_PREFIX}ENDPOINT`]?.trim()) return undefined;
  const text = given ?? environment[otlpVariables('ENDPOINT')[0]!]?.trim();
  if (!text) return undefined;
  const url = new URL(text);
  if (url.pathname !== '/' && !METRICS_END.test(url.pathname)) {
    const allowed = `an address without a path, or with /v1/metrics at its end, or ${LOGS_PREFIX}ENDPOINT`;
    throw invalid(
      `--otlp-findings cannot tell the address for log records from that of the metrics; allowed: ${allowed}`,
    );
  }
  url.pathname = url.pathname.replace(METRICS_END, '/').replace(/\/$/, '/v1/logs');
  return url.href;
}

/** Lets variables of metrics count for log records, too, where those have none. The address follows logsUrl(). */
export function shareMetricsVariables(environment: NodeJS.ProcessEnv): void {
  for (const name of ['HEADERS', 'TIMEOUT', ...Object.keys(CHECKS)]) {
    const text = environment[otlpVariables(name)[0]!];
    if (name !== 'ENDPOINT' && text !== undefined) environment[`${LOGS_PREFIX}${name}`] ??= text;
  }
}

const CHECKS: Readonly<Record<string, (text: string) => unknown>> = {
  ENDPOINT: httpUrl.parse!,
  COMPRESSION: word(['gzip', 'none'], { lowerCase: true }).parse!,
  CERTIFICATE: readableFile,
  CLIENT_CERTIFICATE: readableFile,
  CLIENT_KEY: readableFile,
  INSECURE: word(['true', 'false'], { lowerCase: true }).parse!,
};

/** Variables that the exporters read themselves, except for `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE`. */
export const OTLP_VARIABLES: readonly string[] = ['PROTOCOL', 'HEADERS', 'TIMEOUT', ...Object.keys(CHECKS)].flatMap(
  otlpVariables,
);

/** Returns the host of the receiver. The rest of an address may hold passwords and keys. */
export function shownCollector(given: string | undefined, protocol: Protocol, environment: Environment): string {
  const text = given ?? endpointIn(environment) ?? `localhost:${protocol === 'grpc' ? 4317 : 4318}`;
  const host = URL.canParse(text) && text.includes('://') ? new URL(text).host : '';
  if (host !== '') return host;
  // unix:///run/x.sock has only a path; gRPC accepts a host and a port without a scheme.
  const bare = text.replace(/^.*@/s, '').replace(/[?#].*/s, '');
  return bare.includes('://') ? bare : bare.replace(/\/.*/s, '');
}

/** Returns shownCollector() with the scheme of the address, if it has one. */
export function collectorUrl(given: string | undefined, protocol: Protocol, environment: Environment): string {
  const host = shownCollector(given, protocol, environment);
  const scheme = /^https?:\/\//i.exec(given ?? endpointIn(environment) ?? 'http://')?.[0] ?? '';
  return host.includes('://') ? host : scheme + host;
}

/**
 * Makes the variables what OpenTelemetry's specification says of them, where the SDK reads them otherwise: words are the same
 * in any case, and a number that cannot be read counts as not set, with a warning.
 */
export function clarifyOtlpEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const variable of otlpVariables('COMPRESSION')) {
    const text = environment[variable];
    if (text !== undefined) environment[variable] = text.trim().toLowerCase();
  }
  for (const variable of otlpVariables('TIMEOUT')) {
    const text = environment[variable]?.trim() ?? '';
    if (text === '' || Number(text) > 0) continue;
    diag.warn(`${variable} is ${shown(text)}; allowed: a number of milliseconds above 0; it is ignored`);
    delete environment[variable];
  }
}

/** @throws NixlTelemetryError CONFIG_INVALID naming the variable, its value and what is allowed. */
export function checkOtlpEnvironment(environment: Environment, protocol: Protocol): void {
  const isGrpc = protocol === 'grpc';
  for (const [name, check] of Object.entries(isGrpc ? { ...CHECKS, ENDPOINT: grpcTarget } : CHECKS)) {
    for (const variable of otlpVariables(name)) {
      const text = environment[variable]?.trim() ?? '';
      if (text !== '') parseVariable(variable, text, check);
    }
  }
  for (const variable of otlpVariables('HEADERS')) {
    checkHeaders(variable, environment[variable] ?? '', isGrpc);
  }
  const [certificate, key] = ['CLIENT_CERTIFICATE', 'CLIENT_KEY'].map((name) =>
    otlpVariables(name).find((variable) => environment[variable]?.trim()),
  );
  if ((certificate === undefined) !== (key === undefined)) {
    throw invalid(`${certificate ?? key} is set alone; allowed: a client certificate and its key`);
  }
}

/** grpc resolves a host and a port, or a socket, by itself. */
function grpcTarget(text: string): string {
  const address = text.includes('://') ? text : `http://${text}`;
  return URL.canParse(address) ? text : refuse('a URL, or a host and a port');
}

function readableFile(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    refuse(`a file that can be read; this one cannot: ${(error as NodeJS.ErrnoException).code}`);
  }
}
