/** Shape of a web configuration: what the Prometheus exporter toolkit accepts, with the differences that docs/access.md names. */
import { intervalText } from '../../ground/figures/clock.js';
import { validateHeaderValue } from 'node:http';
import { isObject } from '../../ground/arguments.js';
import {
  also,
  boolean,
  list,
  object,
  type Path,
  type Problem,
  type Shape,
  text,
  value,
  wholeNumber,
  word,
} from '../../settings/shape.js';
import type { Headers } from '../http/gate.js';
import { durationMs, type RateLimit } from './rate-limit.js';
import {
  CIPHER_SUITES,
  type CipherSuiteName,
  CLIENT_AUTH_TYPES,
  type ClientAuthType,
  type CurveName,
  CURVES,
  type LeastVersionName,
  LEAST_VERSIONS,
  type VersionName,
  VERSIONS,
} from './tls-names.js';

/** A file, as Go reads it: without its empty keys, and with text where the format has text. */
export interface Written {
  readonly tls_server_config?: {
    readonly cert?: string;
    readonly key?: string;
    readonly client_ca?: string;
    readonly cert_file?: string;
    readonly key_file?: string;
    readonly client_ca_file?: string;
    readonly client_auth_type?: ClientAuthType;
    readonly client_allowed_sans?: readonly string[];
    readonly min_version?: LeastVersionName;
    readonly max_version?: VersionName;
    readonly cipher_suites?: readonly CipherSuiteName[];
    readonly prefer_server_cipher_suites?: boolean;
    readonly curve_preferences?: readonly CurveName[];
  };
  readonly http_server_config?: { readonly http2?: boolean; readonly headers?: Headers };
  readonly rate_limit?: { readonly interval?: string | number; readonly burst?: number };
  readonly basic_auth_users?: Readonly<Record<string, string>>;
}

/** Costs of bcrypt. bcryptjs takes minutes and hours for the higher ones. */
const [LEAST_COST, MOST_COST] = [4, 16];
/** A comparison with a higher cost holds up others for seconds. */
export const HIGH_COST = 15;
const HASH = `a bcrypt hash, as of htpasswd -nBC 10 "", with a cost from ${LEAST_COST} to ${MOST_COST}`;

/** Returns NaN for a text that is no bcrypt hash. */
export function costOf(hash: string): number {
  return Number(/^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(hash)?.[1]);
}

/** Time of a comparison on a machine of today; a step of the cost doubles it. */
export function comparisonText(cost: number): string {
  return intervalText(1000 * Math.round(1.1 * 2 ** (cost - 14)));
}

/** A value that no message may repeat. */
function secret(what: string, check: (given: string) => boolean): Shape<string> {
  return {
    allowed: what,
    schema: { type: 'string' },
    problems: (given, at = []) =>
      typeof given === 'string' && check(given) ? [] : [{ path: at, text: `has a wrong value; allowed: ${what}` }],
  };
}

const pem = secret('a text in PEM format, with -----BEGIN', (given) => given.includes('-----BEGIN '));
/** Refuses the text itself in place of its path, without repeating it. */
const pemPath = secret('the path of a file in PEM format', (given) => given !== '' && !given.includes('-----BEGIN '));
const anyHash = secret(HASH, (given) => costOf(given) >= LEAST_COST && costOf(given) <= 31);
const passwordHash = also(anyHash, (given: string) =>
  costOf(given) > MOST_COST
    ? `has the cost ${costOf(given)}: a comparison takes about ${comparisonText(costOf(given))} here; allowed: ${HASH}`
    : undefined,
);

const USERS: Shape = {
  allowed: 'an object with users and the bcrypt hashes of their passwords',
  schema: { type: 'object' },
  problems(given, at = []) {
    if (!isObject(given)) return [{ path: at, text: `is no object with users; allowed: ${USERS.allowed}` }];
    return Object.entries(given).flatMap(([name, hash]) => {
      // The rest of the name may be a hash, as in a line of htpasswd.
      if (name.includes(':'))
        return [{ path: at, text: `has the user ${name.split(':')[0]!}: with a colon, which ends a name in HTTP` }];
      return passwordHash.problems(hash, [...at, name]);
    });
  },
};

const headerText = value<string>('a text that a header can have', { type: 'string' }, (given) => {
  try {
    validateHeaderValue('value', given as string);
    return typeof given === 'string';
  } catch {
    return false;
  }
});

const TLS = also(
  object({
    cert: pem,
    key: pem,
    client_ca: pem,
    cert_file: pemPath,
    key_file: pemPath,
    client_ca_file: pemPath,
    client_auth_type: word(CLIENT_AUTH_TYPES),
    client_allowed_sans: list(text),
    min_version: word(Object.keys(LEAST_VERSIONS)),
    max_version: word(Object.keys(VERSIONS)),
    cipher_suites: list(word(Object.keys(CIPHER_SUITES))),
    prefer_server_cipher_suites: boolean,
    curve_preferences: list(word(Object.keys(CURVES))),
  }),
  tlsProblems,
);

/** Only the suites of TLS 1.3 have one name in Go and in OpenSSL. */
function isOf13(name: CipherSuiteName): boolean {
  return CIPHER_SUITES[name] === name;
}

/** False if only keys are given that have no effect without a certificate. */
export function hasTls(given: NonNullable<Written['tls_server_config']>): boolean {
  const keys = ['cert', 'key', 'client_ca', 'cert_file', 'key_file', 'client_ca_file', 'client_auth_type'] as const;
  return keys.some((key) => given[key] !== undefined);
}

/** Keys that need, or exclude, each other. */
function tlsProblems(given: NonNullable<Written['tls_server_config']>): Problem[] {
  const problems: Problem[] = [];
  const refuse = (at: Path, reason: string): void => void problems.push({ path: at, text: reason });
  for (const key of ['cert', 'key'] as const) {
    const isMissing = given[key] === undefined && given[`${key}_file`] === undefined;
    if (isMissing && hasTls(given)) refuse([], `has neither ${key}_file nor ${key}; it needs one of the two`);
  }
  const { client_auth_type: type = 'NoClientCert', min_version: least = 'TLS12', max_version: most = 'TLS13' } = given;
  const caKey = (['client_ca_file', 'client_ca'] as const).find((key) => given[key] !== undefined);
  if (type === 'NoClientCert' && caKey !== undefined) {
    refuse([caKey], 'has no effect with client_auth_type NoClientCert; allowed: RequireAndVerifyClientCert and others');
  }
  if (given.client_allowed_sans !== undefined && !type.startsWith('Require')) {
    refuse(['client_allowed_sans'], 'needs client_auth_type RequireAndVerifyClientCert or RequireAnyClientCert');
  }
  const suites = given.cipher_suites ?? [];
  const hasOf13 = suites.some(isOf13);
  const hasOf12 = suites.some((name) => !isOf13(name));
  if (suites.length > 0 && ((least === 'TLS13' && !hasOf13) || (most === 'TLS12' && !hasOf12))) {
    refuse(['cipher_suites'], `has no suite of the versions from ${least} to ${most}`);
  }
  if (least > most) refuse(['min_version'], `is ${least}, above max_version, which is ${most}`);
  return problems;
}

const FILE = object({
  tls_server_config: TLS,
  http_server_config: object({
    http2: boolean,
    headers: object({
      'Content-Security-Policy': headerText,
      'X-Frame-Options': word(['deny', 'sameorigin']),
      'X-Content-Type-Options': word(['nosniff']),
      'X-XSS-Protection': headerText,
      'Strict-Transport-Security': headerText,
    }),
  }),
  rate_limit: object({
    interval: value('a duration, as 1s, 250ms or 1m30s', undefined, (given) => durationMs(given) !== undefined),
    burst: wholeNumber(0),
  }),
  basic_auth_users: USERS,
});

export const WEB_CONFIG: Shape = { ...FILE, problems: (given, at) => FILE.problems(asGoReads(given), at) };

export function rateLimitIn({ rate_limit: given }: Written): RateLimit | undefined {
  const intervalMs = durationMs(given?.interval ?? 0)!;
  return intervalMs > 0 ? { intervalMs, burst: given?.burst ?? 0 } : undefined;
}

/** Leaves empty keys out, and takes a number or true as the text that it is, where the format has text. */
export function asGoReads(given: unknown): unknown {
  const file = without(given, null);
  if (!isObject(file)) return file;
  const { tls_server_config: tls, http_server_config: http, rate_limit: limit } = file;
  return {
    ...file,
    ...(tls === undefined ? {} : { tls_server_config: tlsAsGoReads(tls) }),
    ...(http === undefined ? {} : { http_server_config: httpAsGoReads(http) }),
    ...(limit === undefined ? {} : { rate_limit: without(limit, null) }),
  };
}

function tlsAsGoReads(given: unknown): unknown {
  const tls = without(without(given, null), '');
  if (!isObject(tls) || !Array.isArray(tls['client_allowed_sans'])) return tls;
  return { ...tls, client_allowed_sans: tls['client_allowed_sans'].map(asText) };
}

function httpAsGoReads(given: unknown): unknown {
  const http = without(given, null);
  if (!isObject(http) || !isObject(http['headers'])) return http;
  const headers = Object.entries(http['headers']).map(([name, one]) => [name, one === null ? '' : asText(one)]);
  return { ...http, headers: Object.fromEntries(headers) as unknown };
}

function without(given: unknown, empty: null | ''): unknown {
  if (!isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, one]) => one !== empty));
}

function asText(given: unknown): unknown {
  return typeof given === 'number' || typeof given === 'boolean' ? String(given) : given;
}
