/** A web configuration: a file in the format of the Prometheus exporter toolkit. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import path from 'node:path';
import { checkedText, orInvalid } from '../../settings/checked-text.js';
import type { Headers } from '../http/gate.js';
import type { RateLimit } from './rate-limit.js';
import {
  type CipherSuiteName,
  type ClientAuthType,
  type CurveName,
  LEAST_VERSIONS,
  type VersionName,
} from './tls-names.js';
import {
  asGoReads,
  comparisonText,
  costOf,
  hasTls,
  HIGH_COST,
  rateLimitIn,
  WEB_CONFIG,
  type Written,
} from './web-config-shape.js';

/** Contents of the file and of those that it names. */
export interface WebConfig {
  readonly tls: TlsConfig | undefined;
  /** Hashes of passwords by user. */
  readonly users: ReadonlyMap<string, string>;
  /** With names in lower case. */
  readonly headers: Headers;
  readonly rateLimit: RateLimit | undefined;
  /** What has another effect than the file may lead to expect. */
  readonly warnings: readonly string[];
}

export interface TlsConfig {
  /** PEM, as the next ones. */
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | undefined;
  readonly clientAuth: ClientAuthType;
  readonly allowedSans: readonly string[] | undefined;
  readonly versions: readonly [least: VersionName, most: VersionName];
  readonly cipherSuites: readonly CipherSuiteName[];
  readonly prefersOwnCipherSuites: boolean;
  readonly curves: readonly CurveName[];
}

/**
 * Reads a web configuration. `read`: returns the text of a file. Paths in the file are relative to its folder.
 * @throws NixlTelemetryError CONFIG_INVALID with the file, its place, and what is allowed
 */
export function readWebConfig(file: string, read: (file: string) => string): WebConfig {
  const content = orInvalid(file, 'the web configuration cannot be read', () => read(file));
  const { value: checked, where } = checkedText(file, content, WEB_CONFIG);
  const written = asGoReads(checked) as Written;
  const { tls_server_config: given, http_server_config: http, basic_auth_users: users = {} } = written;
  const tls = given !== undefined && hasTls(given) ? given : undefined;
  const fromFile = (key: 'cert' | 'key' | 'client_ca'): string | undefined => {
    const named = tls?.[`${key}_file`];
    if (named === undefined) return tls?.[key];
    const place = where(['tls_server_config', `${key}_file`]);
    return orInvalid(file, place, () => read(path.resolve(path.dirname(file), named)));
  };
  const check = <T>(key: 'cert' | 'key' | 'client_ca', work: () => T): T =>
    orInvalid(file, where(['tls_server_config', tls?.[key] === undefined ? `${key}_file` : key]), work);
  const [cert, key, clientCa] = [fromFile('cert'), fromFile('key'), fromFile('client_ca')];
  if (clientCa !== undefined) check('client_ca', () => certificatesIn(clientCa));
  if (cert !== undefined && key !== undefined) {
    const [own] = check('cert', () => certificatesIn(cert));
    check('key', () => checkKey(keyIn(key), own));
  }
  return {
    tls: tls && {
      cert: cert!,
      key: key!,
      clientCa,
      clientAuth: tls.client_auth_type ?? 'NoClientCert',
      allowedSans: tls.client_allowed_sans,
      versions: [LEAST_VERSIONS[tls.min_version ?? 'TLS12'], tls.max_version ?? 'TLS13'],
      cipherSuites: tls.cipher_suites ?? [],
      prefersOwnCipherSuites: tls.prefer_server_cipher_suites ?? true,
      curves: tls.curve_preferences ?? [],
    },
    users: new Map(Object.entries(users)),
    headers: Object.fromEntries(Object.entries(http?.headers ?? {}).map(([name, one]) => [name.toLowerCase(), one])),
    rateLimit: rateLimitIn(written),
    warnings: warningsOf(written),
  };
}

function warningsOf(written: Written): string[] {
  const { tls_server_config: tls, http_server_config: http, basic_auth_users: users = {} } = written;
  const {
    client_auth_type: type = 'NoClientCert',
    client_ca,
    client_ca_file,
    min_version: least = 'TLS12',
  } = tls ?? {};
  const cost = Math.max(0, ...Object.values(users).map(costOf));
  const isWithoutTls = tls === undefined || !hasTls(tls);
  return [
    ...(isWithoutTls && Object.keys(users).length === 0 ? ['it protects nothing: it has neither TLS nor users'] : []),
    ...(['cert', 'key', 'client_ca'] as const).flatMap((key) =>
      tls?.[key] !== undefined && tls[`${key}_file`] !== undefined ? [`${key}_file counts, and ${key} does not`] : [],
    ),
    ...(type.includes('Verify') && client_ca === undefined && client_ca_file === undefined
      ? [`client_auth_type is ${type} without client_ca_file: the public authorities that Node.js trusts count`]
      : []),
    ...(tls?.client_allowed_sans !== undefined && type !== 'RequireAndVerifyClientCert'
      ? [`client_allowed_sans does not protect with client_auth_type ${type}: every client can make such a certificate`]
      : []),
    ...(least === LEAST_VERSIONS[least]
      ? []
      : [`min_version is ${least}, and the least version of this server is TLS12`]),
    ...(http?.http2 === true ? ['http2 is true, and this server speaks HTTP/1.1'] : []),
    ...(rateLimitIn(written)?.burst === 0 ? ['rate_limit has the burst 0, which refuses every request'] : []),
    ...(cost < HIGH_COST
      ? []
      : [`a hash has the cost ${cost}: its comparison, and each refusal, takes about ${comparisonText(cost)}`]),
  ];
}

/** OpenSSL takes any text for authorities, and then trusts none. @throws Error without certificates */
function certificatesIn(pems: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = pems.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const [first, ...others] = blocks.map((block) => new X509Certificate(block));
  if (first === undefined) throw new Error('there is no certificate in it');
  return [first, ...others];
}

/** OpenSSL's reasons name its routines. @throws Error */
function keyIn(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const isEncrypted = /ENCRYPTED/.test(pem);
    throw new Error(
      isEncrypted ? 'the key has a passphrase; give one without' : 'there is no usable private key in it',
      { cause },
    );
  }
}

/** @throws Error */
function checkKey(key: KeyObject, certificate: X509Certificate): void {
  if (!certificate.checkPrivateKey(key)) throw new Error('the key does not belong to the certificate');
}
