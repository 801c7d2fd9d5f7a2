/** Web configurations: what they may say, and the words for what they may not. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hashSync } from 'bcryptjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { asksForCertificate, alternativeNames } from '../../../src/serve/access/client-certificate.js';
import { CLIENT_AUTH_TYPES } from '../../../src/serve/access/tls-names.js';
import { readWebConfig } from '../../../src/serve/access/web-config.js';
import { Authority, type Pair } from '../../support/certificates.js';
import { run, temporaryDirectory } from '../../cli/command.js';

const HASH = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';
let authority: Authority;
let pair: Pair;
beforeAll(() => {
  authority = new Authority();
  pair = authority.issue('server');
});

function written(config: object | string, folder = authority.folder): string {
  const file = path.join(folder, 'web.yml');
  writeFileSync(file, typeof config === 'string' ? config : stringify(config));
  return file;
}

const read = (config: object | string) => readWebConfig(written(config), (file) => readFileSync(file, 'utf8'));
const inlined = () => ({ cert: readFileSync(pair.cert, 'utf8'), key: readFileSync(pair.key, 'utf8') });
const files = { cert_file: 'server.pem', key_file: 'server.key' };

describe('a web configuration', () => {
  it('has defaults, and paths relative to its folder', () => {
    expect(read({ tls_server_config: files }).tls).toEqual({
      ...inlined(),
      clientCa: undefined,
      clientAuth: 'NoClientCert',
      allowedSans: undefined,
      versions: ['TLS12', 'TLS13'],
      cipherSuites: [],
      prefersOwnCipherSuites: true,
      curves: [],
    });
  });

  it('may have certificates and keys inside', () => {
    const client_ca = readFileSync(authority.ca, 'utf8');
    const more = { client_auth_type: 'RequireAndVerifyClientCert', client_ca, client_allowed_sans: ['a'] };
    expect(read({ tls_server_config: { ...inlined(), ...more } }).tls).toMatchObject({
      ...inlined(),
      clientCa: client_ca,
      clientAuth: 'RequireAndVerifyClientCert',
      allowedSans: ['a'],
    });
  });

  it('may have certificate and key in one file', () => {
    const { cert, key } = inlined();
    writeFileSync(path.join(authority.folder, 'both.pem'), `Bag Attributes\n${cert}\n${key}`);
    const both = { cert_file: 'both.pem', key_file: 'both.pem' };
    expect(read({ tls_server_config: both }).tls?.key).toContain(key);
  });

  it('may have users and headers alone', () => {
    const config = {
      basic_auth_users: { a: HASH, 12: HASH },
      http_server_config: { headers: { 'X-Frame-Options': 'deny' } },
    };
    const { tls, users, headers } = read(config);
    expect([tls, [...users.keys()].sort(), headers]).toEqual([undefined, ['12', 'a'], { 'x-frame-options': 'deny' }]);
  });

  const tls = (more: object) => ({ tls_server_config: { ...files, ...more } });
  it.each<[string, object | string, string]>([
    [
      'an unknown key',
      { rate_limits: {} },
      ':1:1: rate_limits is unknown; there are tls_server_config, http_server_config',
    ],
    ['no YAML', 'a: [', 'web.yml:1:'],
    [
      'no certificate',
      { tls_server_config: { key_file: 'server.key' } },
      'has neither cert_file nor cert; it needs one',
    ],
    [
      'a key in place of its path',
      tls({ key_file: '-----BEGIN PRIVATE KEY-----' }),
      'tls_server_config.key_file has a wrong value; allowed: the path of a file in PEM format',
    ],
    [
      'a line of htpasswd',
      { basic_auth_users: { 'alice:$2y$10$secret': '' } },
      'basic_auth_users has the user alice: with a colon, which ends a name in HTTP',
    ],
    ['a missing file', tls({ key_file: 'none.key' }), 'tls_server_config.key_file: ENOENT: no such file'],
    [
      'a header',
      { ...tls({}), http_server_config: { headers: { Server: 'x' } } },
      'headers.Server is unknown; there are',
    ],
    [
      'a value of a header',
      { ...tls({}), http_server_config: { headers: { 'X-Frame-Options': 'all' } } },
      'is "all"; allowed: "deny" or "sameorigin"',
    ],
    [
      'two lines in a header',
      { ...tls({}), http_server_config: { headers: { 'X-XSS-Protection': '1\r\nx: y' } } },
      'allowed: a text that a header can have',
    ],
    ['TLS 1.1', tls({ max_version: 'TLS11' }), 'max_version is "TLS11"; allowed: "TLS12" or "TLS13"'],
    [
      'versions',
      tls({ min_version: 'TLS13', max_version: 'TLS12' }),
      'min_version is TLS13, above max_version, which is',
    ],
    ['a suite', tls({ cipher_suites: ['TLS_RSA_WITH_RC4_128_SHA'] }), 'cipher_suites[0] is "TLS_RSA_WITH_RC4_128_SHA"'],
    [
      'no suite of TLS 1.3',
      tls({ min_version: 'TLS13', cipher_suites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] }),
      'cipher_suites has no suite of the versions from TLS13 to TLS13',
    ],
    [
      'no suite of TLS 1.2',
      tls({ max_version: 'TLS12', cipher_suites: ['TLS_AES_128_GCM_SHA256'] }),
      'cipher_suites has no suite of the versions from TLS12 to TLS12',
    ],
    ['a curve', tls({ curve_preferences: ['P224'] }), 'curve_preferences[0] is "P224"; allowed: one of "X25519"'],
    ['a type', tls({ client_auth_type: 'Always' }), 'client_auth_type is "Always"; allowed: one of "NoClientCert"'],
    ['an unused authority', tls({ client_ca_file: 'ca.pem' }), 'has no effect with client_auth_type NoClientCert'],
    [
      'a key as the authority',
      tls({ client_ca_file: 'server.key', client_auth_type: 'VerifyClientCertIfGiven' }),
      'client_ca_file: there is no certificate in it',
    ],
    [
      'names in certificates that no client needs',
      tls({ client_auth_type: 'VerifyClientCertIfGiven', client_allowed_sans: ['a'] }),
      'client_allowed_sans needs client_auth_type RequireAndVerifyClientCert or RequireAnyClientCert',
    ],
    ['no object of users', { basic_auth_users: [] }, 'basic_auth_users is no object with users'],
    ['a duration', { rate_limit: { interval: '1x' } }, 'rate_limit.interval is "1x"; allowed: a duration, as 1s'],
    ['a password', { basic_auth_users: { a: 'hunter2' } }, 'a has a wrong value; allowed: a bcrypt hash'],
    ['a cost', { basic_auth_users: { a: HASH.replace('$10$', '$17$') } }, 'a comparison takes about 9 s here; allowed'],
    [
      'the most',
      { basic_auth_users: { a: HASH.replace('$10$', '$31$') } },
      'about 144179 s here; allowed: a bcrypt hash',
    ],
    ['no cost', { basic_auth_users: { a: HASH.replace('$10$', '$32$') } }, 'with a cost from 4 to 16'],
  ])('is refused with %s', (_, config, message) => {
    expect(() => read(config)).toThrow(message);
    expect(() => read(config)).not.toThrow(/hunter2|PRIVATE|X0h1gDsP/);
  });
});

it('takes hashes of htpasswd, of other tools and of bcryptjs', () => {
  for (const start of ['$2a$', '$2b$', '$2y$']) read({ basic_auth_users: { a: HASH.replace('$2y$', start) } });
  expect(read({ basic_auth_users: { a: hashSync('x', 4) } }).users.size).toBe(1);
});

it('finds names in the text of a certificate, of which none can look like several', () => {
  expect(alternativeNames('DNS:a.example, IP Address:10.0.0.1, URI:spiffe://a/b, email:a@b')).toEqual([
    'a.example',
    'spiffe://a/b',
    'a@b',
  ]);
  expect(alternativeNames('DNS:"a.example, DNS:b.example", othername:<unsupported>, DNS:c')).toEqual([
    'a.example, DNS:b.example',
    'c',
  ]);
  expect(alternativeNames('')).toEqual([]);
});

describe('serve and config check refuse', () => {
  function locked(): string {
    const file = path.join(authority.folder, 'locked.key');
    const format = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'word' } as const;
    writeFileSync(file, createPrivateKey(readFileSync(pair.key)).export(format));
    return file;
  }

  it.each([
    [
      'a key of another certificate',
      () => ({ tls_server_config: { ...files, key_file: 'ca.key' } }),
      'web.yml:3:3: tls_server_config.key_file: the key does not belong to the certificate',
    ],
    [
      'a key in place of a certificate',
      () => ({ tls_server_config: { ...files, cert_file: 'ca.key' } }),
      'web.yml:2:3: tls_server_config.cert_file: there is no certificate in it',
    ],
    [
      'a certificate in place of a key',
      () => ({ tls_server_config: { ...files, key_file: 'ca.pem' } }),
      'tls_server_config.key_file: there is no usable private key in it',
    ],
    [
      'a key with a passphrase',
      () => ({ tls_server_config: { ...files, key_file: locked() } }),
      'tls_server_config.key_file: the key has a passphrase; give one without',
    ],
  ])('%s', async (_, config, message) => {
    const web = written(config());
    const file = path.join(temporaryDirectory(), 'nixl-otel.yaml');
    writeFileSync(file, stringify({ directories: '/rings', serve: { webConfig: web } }));
    for (const args of [
      ['serve', '--dir', '/rings', '--web-config', web],
      ['config', 'check', file],
    ]) {
      const { code, stderr } = await run(args);
      expect(stderr).toContain(message);
      expect(code).toBeGreaterThan(0);
    }
  });

  it('a missing file, and settings without one', async () => {
    const missing = await run(['serve', '--dir', '/rings', '--web-config', '/none.yml']);
    expect(missing.stderr).toContain('the web configuration cannot be read: ENOENT');
    const probes = await run(['serve', '--dir', '/rings', '--protect-probes', 'on']);
    expect([probes.code, probes.stderr]).toEqual([2, expect.stringContaining('--protect-probes needs --web-config')]);
  });
});

/** At the limit of connections these clients keep theirs. */
it.each(CLIENT_AUTH_TYPES)('counts as shown a certificate that not every client can make, with %s', (clientAuth) => {
  expect(asksForCertificate({ clientAuth })).toBe(clientAuth === 'RequireAndVerifyClientCert');
});
