/** Options of Node's servers with TLS, made of a web configuration. */
import { constants } from 'node:crypto';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { CIPHER_SUITES, CURVES, VERSIONS } from './tls-names.js';
import type { TlsConfig } from './web-config.js';

/** @throws with the reason of OpenSSL, such as a key that does not belong to its certificate. */
export function tlsOptions(config: TlsConfig): TlsOptions {
  const { cert, key, clientCa, clientAuth, cipherSuites, curves, prefersOwnCipherSuites } = config;
  const [minVersion, maxVersion] = config.versions.map((name) => VERSIONS[name]);
  const options: TlsOptions = {
    cert,
    key,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    minVersion: minVersion!,
    maxVersion: maxVersion!,
    honorCipherOrder: prefersOwnCipherSuites,
    ...(cipherSuites.length === 0 ? {} : { ciphers: cipherSuites.map((name) => CIPHER_SUITES[name]).join(':') }),
    ...(curves.length === 0 ? {} : { ecdhCurve: curves.map((name) => CURVES[name]).join(':') }),
    // A resumed session would keep what was verified at its beginning, and Node counts one without a certificate as verified.
    // After a renegotiation Node would still count the client as verified, whatever certificate it shows.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    requestCert: clientAuth !== 'NoClientCert',
    // Node would close the connection without a word: the answer says what is wrong.
    rejectUnauthorized: false,
  };
  createSecureContext(options);
  return options;
}
