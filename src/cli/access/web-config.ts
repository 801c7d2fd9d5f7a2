/** A web configuration: a file in the format of the Prometheus exporter toolkit. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { validateHeaderValue } from 'node:http';
import path from 'node:path';
import { isObject } from '../../arguments.js';
import { checkedText, orInvalid } from '../../settings/checked-text.js';
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
  word,
} from '../../settings/shape.js';
import type { Headers } from '../http/gate.js';
import {
  CIPHER_SUITES,
  type CipherSuiteName,
  CLIENT_AUTH_TYPES,
  type ClientAuthType,
  type CurveName,
  CURVES,
  type VersionName,
  VERSIONS,
} from './tls-names.js';

/** Contents of the file and of those that it names. */
export interface WebConfig {
  readonly tls: TlsConfig | undefined;
  /** Hashes of passwords by user. */
  readonly users: ReadonlyMap<string, string>;
  /** With names in lower case. */
  readonly headers: Headers;
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

interface Written {
  readonly tls_server_config?: {
    readonly cert?: string;
    readonly key?: string;
    readonly client_ca?: string;
    readonly cert_file?: string;
    readonly key_file?: string;
    readonly client_ca_file?: string;
    readonly client_auth_type?: ClientAuthType;
    readonly client_allowed_sans?: readonly string[];
    readonly min_version?: VersionName;
    readonly max_version?: VersionName;
    readonly cipher_suites?: readonly CipherSuiteName[];
    readonly prefer_server_cipher_suites?: boolean;
    readonly curve_preferences?: readonly CurveName[];
  };
  readonly http_server_config?: { readonly http2?: false; readonly headers?: Headers };
  readonly basic_auth_users?: Readonly<Record<string, string>>;
}

/** Costs of bcrypt. A comparison of the highest one takes a second or two, so that all that wait have their answers in time. */
const [LEAST_COST, MOST_COST] = [4, 14];
const HASH = `a bcrypt hash, as of htpasswd -nBC 10 "", with a cost from ${LEAST_COST} to ${MOST_COST}`;

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
const passwordHash = secret(HASH, (given) => {
  const cost = Number(/^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(given)?.[1]);
  return cost >= LEAST_COST && cost <= MOST_COST;
});

const USERS: Shape = {
  allowed: 'an object with users and the bcrypt hashes of their passwords',
  schema: { type: 'object' },
  problems(given, at = []) {
    const names = isObject(given) ? Object.entries(given) : [];
    if (names.length === 0) return [{ path: at, text: `is no object with users; allowed: ${USERS.allowed}` }];
    return names.flatMap(([name, hash]) => {
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
    return typeof given === 'string' && given !== '';
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
    client_allowed_sans: list(text, { minItems: 1 }),
    min_version: word(Object.keys(VERSIONS)),
    max_version: word(Object.keys(VERSIONS)),
    cipher_suites: list(word(Object.keys(CIPHER_SUITES)), { minItems: 1 }),
    prefer_server_cipher_suites: boolean,
    curve_preferences: list(word(Object.keys(CURVES)), { minItems: 1 }),
  }),
  tlsProblems,
);

/** Only the suites of TLS 1.3 have one name in Go and in OpenSSL. */
function isOf13(name: CipherSuiteName): boolean {
  return CIPHER_SUITES[name] === name;
}

/** Keys that need, or exclude, each other. */
function tlsProblems(given: NonNullable<Written['tls_server_config']>): Problem[] {
  const problems: Problem[] = [];
  const refuse = (at: Path, reason: string): void => void problems.push({ path: at, text: reason });
  for (const key of ['cert', 'key', 'client_ca'] as const) {
    const isTwice = given[key] !== undefined && given[`${key}_file`] !== undefined;
    if (isTwice) refuse([`${key}_file`], `and ${key} exclude each other`);
    const isMissing = given[key] === undefined && given[`${key}_file`] === undefined;
    if (isMissing && key !== 'client_ca') refuse([], `has neither ${key}_file nor ${key}; it needs one of the two`);
  }
  const { client_auth_type: type = 'NoClientCert', min_version: least = 'TLS12', max_version: most = 'TLS13' } = given;
  const caKey = (['client_ca_file', 'client_ca'] as const).find((key) => given[key] !== undefined);
  if (type.includes('Verify') && caKey === undefined) {
    refuse(['client_auth_type'], `is ${type}, which needs client_ca_file or client_ca`);
  }
  if (type === 'NoClientCert' && caKey !== undefined) {
    refuse([caKey], 'has no effect with client_auth_type NoClientCert; allowed: RequireAndVerifyClientCert and others');
  }
  if (given.client_allowed_sans !== undefined && type !== 'RequireAndVerifyClientCert') {
    refuse(
      ['client_allowed_sans'],
      'needs client_auth_type RequireAndVerifyClientCert: every client can make another certificate',
    );
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

const SHAPE = also(
  object({
    tls_server_config: TLS,
    http_server_config: object({
      http2: value('false: this server speaks HTTP/1.1', { enum: [false] }, (given) => given === false),
      headers: object({
        'Content-Security-Policy': headerText,
        'X-Frame-Options': word(['deny', 'sameorigin']),
        'X-Content-Type-Options': word(['nosniff']),
        'X-XSS-Protection': headerText,
        'Strict-Transport-Security': headerText,
      }),
    }),
    basic_auth_users: USERS,
  }),
  ({ tls_server_config: tls, basic_auth_users: users }: Written) =>
    // A file that an editor is writing may be empty for a moment.
    tls === undefined && users === undefined
      ? 'has neither tls_server_config nor basic_auth_users; it needs one of the two, or both'
      : undefined,
);

/**
 * Reads a web configuration. `read`: returns the text of a file. Paths in the file are relative to its folder.
 * @throws NixlTelemetryError CONFIG_INVALID with the file, its place, and what is allowed
 */
export function readWebConfig(file: string, read: (file: string) => string): WebConfig {
  const content = orInvalid(file, 'the web configuration cannot be read', () => read(file));
  const { value: checked, where } = checkedText(file, content, SHAPE);
  const { tls_server_config: tls, http_server_config: http, basic_auth_users: users = {} } = checked as Written;
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
      versions: [tls.min_version ?? 'TLS12', tls.max_version ?? 'TLS13'],
      cipherSuites: tls.cipher_suites ?? [],
      prefersOwnCipherSuites: tls.prefer_server_cipher_suites ?? true,
      curves: tls.curve_preferences ?? [],
    },
    users: new Map(Object.entries(users)),
    headers: Object.fromEntries(Object.entries(http?.headers ?? {}).map(([name, one]) => [name.toLowerCase(), one])),
  };
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
