/** Requests that change something: who may send them, and their bodies. A browser must not send one for a page of another site. */
import type { IncomingMessage } from 'node:http';
import { isLoopback } from './host-check.js';

const MOST_BODY_BYTES = 4096;

export interface ChangeRefusal {
  readonly status: number;
  readonly text: string;
}

/**
 * Returns why a request may not change anything. `hasShown`: true if its client has shown what not every client has. A form of
 * another site can send no JSON, its script not without a question before, which the server refuses; and browsers name the site.
 */
export function changeRefusal(request: IncomingMessage, hasShown: boolean): ChangeRefusal | undefined {
  const { headers, socket } = request;
  const { origin, host } = headers;
  if (!/^application\/json *(;|$)/i.test(headers['content-type'] ?? '')) {
    return { status: 415, text: 'Allowed content type: application/json.' };
  }
  const site = headers['sec-fetch-site'];
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
  if (!isOwn || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    return { status: 403, text: 'Pages of other sites may not do this.' };
  }
  const { remoteAddress } = socket;
  const isHere = remoteAddress === undefined || isLoopback(remoteAddress.replace(/^::ffff:/i, ''));
  // A proxy on this host stands for others.
  const isForOther = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  if (hasShown || (isHere && !isForOther)) return undefined;
  return {
    status: 403,
    text: 'Without users in a web configuration, only clients of this host may do this, over a loopback address or a Unix socket.',
  };
}

/** Returns the body; undefined if it is too long. */
export async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    // The rest is read and dropped: a connection that ends meanwhile would take the answer with it.
    if (bytes <= MOST_BODY_BYTES) parts.push(part);
  }
  return bytes > MOST_BODY_BYTES ? undefined : Buffer.concat(parts).toString();
}
