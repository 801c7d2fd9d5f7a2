/** A real Prometheus scrapes a serve with a web configuration: over TLS, with a client certificate, as a user, and with all three. */
import { beforeAll, expect, it } from 'vitest';
import { GuardedServe, hashOf } from '../serve/access/guarded-serve.js';
import { Authority, type Pair } from '../support/certificates.js';
import { PATIENTLY, startPrometheus } from './backends.js';

let authority: Authority;
let server: Pair;
let client: Pair;
beforeAll(() => {
  authority = new Authority();
  server = authority.issue('server');
  client = authority.issue('prometheus');
});

const tls = (more: object = {}) => ({ cert_file: server.cert, key_file: server.key, ...more });
const certificates = () => tls({ client_auth_type: 'RequireAndVerifyClientCert', client_ca_file: authority.ca });
const users = { prometheus: hashOf('scrape') };
const trust = () => ({ scheme: 'https', tls_config: { ca_file: authority.ca } });
const show = () => ({
  scheme: 'https',
  tls_config: { ca_file: authority.ca, cert_file: client.cert, key_file: client.key },
});
const login = (password: string) => ({ basic_auth: { username: 'prometheus', password } });

interface Targets {
  data: { activeTargets: { lastError: string }[] };
}

it.each([
  ['TLS', () => ({ tls_server_config: tls() }), trust, () => ({ scheme: 'http' }), /EOF|reset|malformed/, 'handshake'],
  [
    'a client certificate',
    () => ({ tls_server_config: certificates() }),
    show,
    trust,
    /403 Forbidden/,
    'no_certificate',
  ],
  [
    'a user',
    () => ({ basic_auth_users: users }),
    () => login('scrape'),
    () => login('guess'),
    /401 Unauth/,
    'wrong_credentials',
  ],
  [
    'all three',
    () => ({ tls_server_config: certificates(), basic_auth_users: users }),
    () => ({ ...show(), ...login('scrape') }),
    show,
    /401 Unauthorized/,
    'no_credentials',
  ],
])('with %s, and is refused without', async (_, config, right, wrong, error, reason) => {
  const shown = { ca: authority.ca, ...client, auth: 'prometheus:scrape' };
  const serve = await new GuardedServe(config(), shown).started();
  const { host } = new URL(serve.url);
  const prometheus = await startPrometheus(host, [], right());
  await prometheus.answers('up', 1);
  expect(await serve.refusals(reason)).toBe(0);
  const stranger = await startPrometheus(host, [], wrong());
  await stranger.answers('up', 0);
  // A scrape of a busy machine may also time out.
  const lastError = async () =>
    (await stranger.server.get<Targets>('/api/v1/targets')).data.activeTargets[0]!.lastError;
  await expect.poll(lastError, PATIENTLY).toMatch(error);
  await expect
    .poll(() => prometheus.number(`nixl_http_refusals_total{reason="${reason}"}`), PATIENTLY)
    .toBeGreaterThan(0);
});
