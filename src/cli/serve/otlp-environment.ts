/**
 * OTEL_EXPORTER_OTLP_*: the SDK reads them by itself. But where one is wrong it warns and goes on without it, to another
 * collector or without the certificate; here it is refused at start.
 */
import { accessSync, constants } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import type { Environment } from '../../settings/environment.js';
import { checkHeaders } from './key-value-pairs.js';

export const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** The first goes before the second. */
const PREFIXES = ['OTEL_EXPORTER_OTLP_METRICS_', 'OTEL_EXPORTER_OTLP_'];

export function hasOtlpEndpoint(environment: Environment): boolean {
  return endpointIn(environment) !== undefined;
}

function endpointIn(environment: Environment): string | undefined {
  return PREFIXES.map((prefix) => environment[`${prefix}ENDPOINT`]).find((text) => text);
}

/** Returns whether a variable limits the time of an export. */
export function isTimeoutSet(environment: Environment): boolean {
  return PREFIXES.some((prefix) => (environment[`${prefix}TIMEOUT`]?.trim() ?? '') !== '');
}

/** The host that pushes go to: passwords and keys may stand in all the rest of an address. */
export function shownCollector(given: string | undefined, protocol: Protocol, environment: Environment): string {
  const text = given ?? endpointIn(environment) ?? `localhost:${protocol === 'grpc' ? 4317 : 4318}`;
  const host = URL.canParse(text) && text.includes('://') ? new URL(text).host : '';
  if (host !== '') return host;
  // As unix:///run/x.sock, which has a path alone; or a host and a port without a scheme.
  const bare = text.replace(/^.*@/s, '').replace(/[?#].*/s, '');
  return bare.includes('://') ? bare : bare.replace(/\/.*/s, '');
}

/** All that the exporters read by themselves, without `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE`. */
export const OTLP_VARIABLES: readonly string[] = PREFIXES.flatMap((prefix) =>
  [
    'ENDPOINT',
    'PROTOCOL',
    'HEADERS',
    'TIMEOUT',
    'COMPRESSION',
    'CERTIFICATE',
    'CLIENT_CERTIFICATE',
    'CLIENT_KEY',
    'INSECURE',
  ].map((name) => prefix + name),
);

/** As shownCollector(), with the scheme of the address, if it has one. */
export function collectorUrl(given: string | undefined, protocol: Protocol, environment: Environment): string {
  const host = shownCollector(given, protocol, environment);
  const scheme = /^https?:\/\//i.exec(given ?? endpointIn(environment) ?? 'http://')?.[0] ?? '';
  return host.includes('://') ? host : scheme + host;
}

/** @throws InvalidArgumentError naming the variable, its value and what is allowed. */
export function checkOtlpEnvironment(environment: Environment, protocol: Protocol): void {
  const checks: Record<string, (text: string) => unknown> = {
    ENDPOINT: protocol === 'grpc' ? grpcTarget : httpUrl,
    COMPRESSION: gzipOrNone,
    TIMEOUT: milliseconds,
    CERTIFICATE: readableFile,
    CLIENT_CERTIFICATE: readableFile,
    CLIENT_KEY: readableFile,
    INSECURE: trueOrFalse,
  };
  for (const [name, check] of Object.entries(checks)) {
    for (const variable of PREFIXES.map((prefix) => prefix + name)) {
      const text = environment[variable]?.trim() ?? '';
      if (text !== '') named(variable, text, check);
    }
  }
  for (const variable of PREFIXES.map((prefix) => `${prefix}HEADERS`)) {
    checkHeaders(variable, environment[variable] ?? '', protocol === 'grpc');
  }
  const [certificate, key] = ['CLIENT_CERTIFICATE', 'CLIENT_KEY'].map((name) =>
    PREFIXES.map((prefix) => prefix + name).find((variable) => environment[variable]?.trim()),
  );
  if ((certificate === undefined) !== (key === undefined)) {
    throw new InvalidArgumentError(`${certificate ?? key} is set alone. Allowed: a client certificate and its key.`);
  }
}

function named(variable: string, text: string, check: (text: string) => unknown): void {
  try {
    check(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new InvalidArgumentError(`${variable} is '${text}'. ${error.message}`);
  }
}

/** @throws InvalidArgumentError */
export function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:\/\/[^/?#]/i.test(text)) return text;
  throw new InvalidArgumentError('Allowed: a URL that begins with http:// or https://.');
}

/** Also a host and a port, or a socket: grpc resolves those by itself. @throws InvalidArgumentError */
function grpcTarget(text: string): string {
  const address = text.includes('://') ? text : `http://${text}`;
  if (URL.canParse(address)) return text;
  throw new InvalidArgumentError('Allowed: a URL, or a host and a port.');
}

function trueOrFalse(text: string): void {
  if (!/^(true|false)$/i.test(text)) throw new InvalidArgumentError('Allowed: true, false.');
}

function gzipOrNone(text: string): void {
  if (text !== 'gzip' && text !== 'none') throw new InvalidArgumentError('Allowed: gzip, none.');
}

function milliseconds(text: string): void {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('Allowed: a number of milliseconds above 0.');
}

function readableFile(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new InvalidArgumentError(
      `Allowed: a file that can be read; this one cannot: ${(error as NodeJS.ErrnoException).code}.`,
    );
  }
}
