/** Checks the certificate of a client, as `client_auth_type` and `client_allowed_sans` want it. */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { RefusedRequest } from '../http/gate.js';
import type { ClientAuthType } from './tls-names.js';
import type { TlsConfig } from './web-config.js';

interface Wants {
  readonly isNeeded: boolean;
  readonly isVerified: boolean;
}

const WANTS: Readonly<Record<ClientAuthType, Wants>> = {
  NoClientCert: { isNeeded: false, isVerified: false },
  RequestClientCert: { isNeeded: false, isVerified: false },
  RequireClientCert: { isNeeded: true, isVerified: false },
  RequireAnyClientCert: { isNeeded: true, isVerified: false },
  VerifyClientCertIfGiven: { isNeeded: false, isVerified: true },
  RequireAndVerifyClientCert: { isNeeded: true, isVerified: true },
};

/** True if only clients with a certificate of the authorities may ask. Any other certificate, every client can make. */
export function asksForCertificate({ clientAuth }: Pick<TlsConfig, 'clientAuth'>): boolean {
  const { isNeeded, isVerified } = WANTS[clientAuth];
  return isNeeded && isVerified;
}

/** Returns undefined if the client may ask. */
export function certificateRefusal(
  socket: TLSSocket,
  { clientAuth, allowedSans }: Pick<TlsConfig, 'clientAuth' | 'allowedSans'>,
): RefusedRequest | undefined {
  const { isNeeded, isVerified } = WANTS[clientAuth];
  if (!isNeeded && !isVerified) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) {
    if (!isNeeded) return undefined;
    return refusal('no_certificate', 'This server needs a client certificate, and the client sent none.');
  }
  const code = socket.authorizationError as unknown as string | null; // Node's types say Error
  if (isVerified && (!socket.authorized || code)) {
    return refusal('wrong_certificate', `The client certificate is refused: ${code}`);
  }
  if (allowedSans === undefined || allowedSans.some((name) => isNamed(certificate, name))) return undefined;
  return refusal('wrong_certificate', 'The client certificate is refused: none of its names is allowed.');
}

function refusal(reason: RefusedRequest['reason'], text: string): RefusedRequest {
  return { reason, status: 403, text, headers: {} };
}

function isNamed(certificate: X509Certificate, name: string): boolean {
  if (isIP(name) > 0) return certificate.checkIP(name) !== undefined;
  return alternativeNames(certificate.subjectAltName ?? '').includes(name);
}

/** Returns names of DNS, addresses of e-mail and URIs, in the text of `DNS:a.example, URI:spiffe://a/b, DNS:"a, b"`. */
export function alternativeNames(subjectAltName: string): string[] {
  // Node writes a name with a comma or a quote as JSON, so that it cannot look like several names.
  const parts = subjectAltName.matchAll(/(DNS|email|URI):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)|[^,]*(?:, |$)/gy);
  return [...parts].flatMap(([, kind, name = '']) => {
    if (kind === undefined) return [];
    return name.startsWith('"') ? [JSON.parse(name) as string] : [name];
  });
}
