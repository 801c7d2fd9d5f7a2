/**
 * Web configurations like those in web/testdata of the Prometheus exporter toolkit: what it accepts, and what it refuses. Each
 * row has the name of its file there.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { RequestRate } from '../../../src/serve/access/rate-limit.js';
import { readWebConfig, type WebConfig } from '../../../src/serve/access/web-config.js';
import { Authority } from '../../support/certificates.js';

const HASH = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';
const withCost = (cost: number): string => HASH.replace('$10$', `$${cost}$`);
const VERIFIED = { client_auth_type: 'VerifyClientCertIfGiven' };
const NEEDED = { client_auth_type: 'RequireAndVerifyClientCert' };
const FILES = { cert_file: 'server.pem', key_file: 'server.key' };
const tls = (more: object = {}, others: object = {}) => ({ tls_server_config: { ...FILES, ...more }, ...others });
const SUITES_12 = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'];

let folder: string;
beforeAll(() => {
  const authority = new Authority();
  authority.issue('server');
  folder = authority.folder;
});

function read(config: object | string): WebConfig {
  const file = path.join(folder, 'toolkit.yml');
  writeFileSync(file, typeof config === 'string' ? config : stringify(config));
  return readWebConfig(file, (one) => readFileSync(one, 'utf8'));
}

const inlined = () => ({
  cert: readFileSync(path.join(folder, 'server.pem'), 'utf8'),
  key: readFileSync(path.join(folder, 'server.key'), 'utf8'),
});
const PUBLIC_AUTHORITIES = /without client_ca_file: the public authorities/;

describe('a web configuration that the toolkit accepts is accepted', () => {
  it.each<[name: string, config: () => object | string, warning?: RegExp]>([
    ['web_config_empty.yml', () => '', /it protects nothing/],
    ['web_config_noAuth.good.yml', () => tls(VERIFIED), PUBLIC_AUTHORITIES],
    ['web_config_noAuth.good.blocking.yml', () => tls(NEEDED), PUBLIC_AUTHORITIES],
    ['web_config_noAuth_tlsInline.good.yml', () => ({ tls_server_config: inlined() })],
    [
      'web_config_noAuth_allCurves.good.yml',
      () => tls({ curve_preferences: ['CurveP256', 'CurveP384', 'CurveP521', 'X25519'] }),
    ],
    ['web_config_noAuth_someCurves.good.yml', () => tls({ min_version: 'TLS13', curve_preferences: ['CurveP521'] })],
    [
      'web_config_noAuth_allCiphers.good.yml',
      () => tls({ cipher_suites: ['TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', ...SUITES_12] }),
    ],
    [
      'web_config_noAuth_someCiphers.good.yml',
      () => tls({ cipher_suites: SUITES_12, min_version: 'TLS12', max_version: 'TLS12' }),
    ],
    [
      'web_config_noAuth_someCiphers_noOrder.good.yml',
      () => tls({ cipher_suites: SUITES_12, prefer_server_cipher_suites: false, max_version: 'TLS12' }),
    ],
    [
      'web_config_noAuth_noHTTP2.good.yml',
      () => tls({ cipher_suites: SUITES_12, max_version: 'TLS12' }, { http_server_config: { http2: false } }),
    ],
    ['tls_config_noAuth.requireanyclientcert.good.yml', () => tls({ client_auth_type: 'RequireAnyClientCert' })],
    ['tls_config_noAuth.requireandverifyclientcert.good.yml', () => tls({ ...NEEDED, client_ca_file: 'ca.pem' })],
    [
      'web_config_auth_client_san.good.yaml',
      () => tls({ ...NEEDED, client_ca_file: 'ca.pem', client_allowed_sans: ['one', 'test3'] }),
    ],
    [
      'web_config_headers.good.yml',
      () =>
        'http_server_config:\n  headers:\n    X-Frame-Options: deny\n    X-XSS-Protection: 1\n' +
        '    Strict-Transport-Security: max-age=31536000; includeSubDomains\n    Content-Security-Policy: "default-src \'self\'"\n',
      /it protects nothing/,
    ],
    ['web_config_users.good.yml', () => tls({}, { basic_auth_users: { alice: withCost(12), carol: HASH } })],
    ['web_config_users_noTLS.good.yml', () => ({ basic_auth_users: { alice: withCost(12), carol: HASH } })],
    [
      'web_config_rate_limiter_nonblocking.yaml',
      () => ({ rate_limit: { interval: 0, burst: 0 } }),
      /it protects nothing/,
    ],
    [
      'web_config_rate_limiter_one_second.yaml',
      () => ({ rate_limit: { interval: '1s', burst: 0 } }),
      /refuses every request/,
    ],
    ['docs: no users', () => ({ basic_auth_users: {} }), /it protects nothing/],
    [
      'docs: keys without a value',
      () => 'tls_server_config:\nhttp_server_config:\n  headers:\n',
      /it protects nothing/,
    ],
    ['docs: no text as a certificate', () => tls({ cert: '', client_ca: '', client_auth_type: '' })],
    ['docs: a certificate twice', () => tls(inlined()), /cert_file counts, and cert does not/],
    ['docs: an old least version', () => tls({ min_version: 'TLS10' }), /the least version of this server is TLS12/],
    ['docs: HTTP/2', () => tls({}, { http_server_config: { http2: true } }), /this server speaks HTTP\/1\.1/],
    ['docs: a higher cost', () => ({ basic_auth_users: { a: withCost(15) } }), /the cost 15: .* takes about 2 s/],
    ['docs: the highest cost', () => ({ basic_auth_users: { a: withCost(16) } }), /the cost 16: .* takes about 4 s/],
    [
      'tls_config.go: names without verification',
      () => tls({ client_auth_type: 'RequireAnyClientCert', client_allowed_sans: ['a'] }),
      /client_allowed_sans does not protect/,
    ],
  ])('%s', (_, config, warning) => {
    const warnings = read(config()).warnings.join('\n');
    if (warning === undefined) expect(warnings).toBe('');
    else expect(warnings).toMatch(warning);
  });
});

describe('a web configuration that the toolkit refuses is refused', () => {
  it.each<[name: string, config: () => object | string, message: string]>([
    ['web_config_junk.yml', () => 'hWkNKCp3fvIx3jKnsaBI\nTuEjdwNS8A2vYdFbiKqr\n', 'allowed: an object'],
    ['web_config_junk_key.yml', () => ({ tls_server_config: { cert_filse: 'server.pem' } }), 'cert_filse is unknown'],
    ['web_config_noAuth.bad.yml', () => tls({ client_ca_file: '/dev/null' }), 'client_ca_file has no effect'],
    ['web_config_noAuth_certPath_empty.bad.yml', () => tls({ cert_file: '' }), 'neither cert_file nor cert'],
    ['web_config_noAuth_cert_empty.bad.yml', () => tls({ cert_file: null, cert: '' }), 'neither cert_file nor cert'],
    ['web_config_noAuth_keyPath_empty.bad.yml', () => tls({ key_file: '' }), 'neither key_file nor key'],
    ['web_config_noAuth_key_empty.bad.yml', () => tls({ key_file: null, key: '' }), 'neither key_file nor key'],
    [
      'web_config_noAuth_certPath_keyPath_empty.bad.yml',
      () => tls({ cert_file: '', key_file: '', client_auth_type: 'x' }),
      'client_auth_type is "x"',
    ],
    ['web_config_noAuth_certPath_invalid.bad.yml', () => tls({ cert_file: 'somefile' }), 'no such file'],
    ['web_config_noAuth_keyPath_invalid.bad.yml', () => tls({ key_file: 'somefile' }), 'no such file'],
    ['web_config_auth_clientCAs_invalid.bad.yml', () => tls({ ...NEEDED, client_ca_file: 'somefile' }), 'no such file'],
    [
      'web_config_auth_user_list_invalid.bad.yml',
      () => tls({}, { basic_auth_users: { john: 'doe' } }),
      'a bcrypt hash',
    ],
    [
      'web_config_noAuth_inventedCiphers.bad.yml',
      () => tls({ cipher_suites: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA2048'] }),
      'cipher_suites[0] is',
    ],
    [
      'web_config_noAuth_inventedCurves.bad.yml',
      () => tls({ curve_preferences: ['CurveP257'] }),
      'curve_preferences[0]',
    ],
    ['web_config_noAuth_wrongTLSVersion.bad.yml', () => tls({ min_version: 'TLS111' }), 'min_version is "TLS111"'],
    [
      'web_config_headers_content_type_options.bad.yml',
      () => ({ http_server_config: { headers: { 'X-Content-Type-Options': 'sniff' } } }),
      'allowed: one of "nosniff"',
    ],
    [
      'web_config_headers_extra_header.bad.yml',
      () => ({ http_server_config: { headers: { 'Content-Type': 'foo' } } }),
      'Content-Type is unknown',
    ],
    [
      'web_config_headers_frame_options.bad.yml',
      () => ({ http_server_config: { headers: { 'X-Frame-Options': 'foo' } } }),
      'allowed: "deny" or "sameorigin"',
    ],
  ])('%s', (_, config, message) => {
    expect(() => read(config())).toThrow(message);
  });
});

/** docs/access.md has the reasons. */
describe('a web configuration counts otherwise than in the toolkit', () => {
  it.each<[name: string, config: () => object, message: string | undefined]>([
    // The toolkit needs such a suite for HTTP/2, which this server does not speak.
    [
      'web_config_noAuth_noHTTP2Cipher.bad.yml',
      () => tls({ cipher_suites: SUITES_12.slice(1), max_version: 'TLS12' }),
      undefined,
    ],
    [
      'web_config_users.good.yml: cost 18',
      () => ({ basic_auth_users: { bob: withCost(18) } }),
      'takes about 18 s here',
    ],
    ['docs: versions before TLS 1.2', () => tls({ max_version: 'TLS11' }), 'max_version is "TLS11"'],
    [
      'docs: an authority without certificates',
      () => tls({ ...NEEDED, client_ca_file: '/dev/null' }),
      'no certificate in it',
    ],
  ])('%s', (_, config, message) => {
    if (message === undefined) expect(read(config()).warnings).toEqual([]);
    else expect(() => read(config())).toThrow(message);
  });
});

it('has the text of numbers in headers and names', () => {
  const headers = { 'X-XSS-Protection': 1, 'Content-Security-Policy': null };
  const more = { ...NEEDED, client_ca_file: 'ca.pem', client_allowed_sans: [12] };
  const config = read(tls(more, { http_server_config: { headers } }));
  expect(config.headers).toEqual({ 'x-xss-protection': '1', 'content-security-policy': '' });
  expect(config.tls!.allowedSans).toEqual(['12']);
});

it.each<[string | number, number | undefined]>([
  ['1s', 1000],
  ['1m30.5s', 90_500],
  ['.5h', 1_800_000],
  ['250ms', 250],
  [2_000_000, 2],
  ['0', undefined],
  ['-1s', undefined],
])('reads the interval %s of a rate limit', (interval, intervalMs) => {
  expect(read({ rate_limit: { interval, burst: 3 } }).rateLimit?.intervalMs).toBe(intervalMs);
});

it('allows a burst, and one request more in each interval', () => {
  const rate = new RequestRate({ intervalMs: 100, burst: 2 }, 0);
  expect([0, 0, 0, 99, 100, 150, 199, 200, 1000, 1000, 1000].map((nowMs) => rate.allows(nowMs))).toEqual([
    ...[true, true, false, false, true, false, false, true, true, true, false],
  ]);
});
