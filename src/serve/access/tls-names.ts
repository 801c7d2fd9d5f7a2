/** Go's names of TLS versions, cipher suites and curves, as the toolkit writes them, and those of OpenSSL. */

export const VERSIONS = { TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;
export type VersionName = keyof typeof VERSIONS;

/** The toolkit takes older ones, too. */
export const LEAST_VERSIONS = { TLS10: 'TLS12', TLS11: 'TLS12', TLS12: 'TLS12', TLS13: 'TLS13' } as const;
export type LeastVersionName = keyof typeof LEAST_VERSIONS;

export const CURVES = { X25519: 'X25519', CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521' } as const;
export type CurveName = keyof typeof CURVES;

/** Those that Go counts as secure. TLS 1.3 has the same names in both. */
export const CIPHER_SUITES = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
} as const;
export type CipherSuiteName = keyof typeof CIPHER_SUITES;

export const CLIENT_AUTH_TYPES = [
  'NoClientCert',
  'RequestClientCert',
  'RequireClientCert', // an old name of the next one
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;
export type ClientAuthType = (typeof CLIENT_AUTH_TYPES)[number];
