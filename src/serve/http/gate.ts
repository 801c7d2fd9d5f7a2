/** Types of a gate: the checks of clients by a web configuration. Without one, the server has no gate. */
import type { IncomingMessage } from 'node:http';
import type { TlsOptions } from 'node:tls';
import type { RefusalReason } from '../../instrumentation/serve-state.js';

export type Headers = Readonly<Record<string, string>>;

export interface RefusedRequest {
  readonly reason: RefusalReason;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export interface Gate {
  /** Undefined without TLS. A connection begins with the present ones. */
  readonly tls: TlsOptions | undefined;
  /** Headers of all answers, in lower case. */
  readonly headers: Headers;
  /** False if probes give their status to every client. */
  readonly protectsProbes: boolean;
  /** Reads the files anew if they have changed. `onTlsChange` was called before it returns. */
  refresh(): void;
  /** Adds a function that is called when the options of TLS have changed. */
  onTlsChange(use: (tls: TlsOptions) => void): void;
  /** Returns undefined if the client may ask. */
  check(request: IncomingMessage): RefusedRequest | undefined | Promise<RefusedRequest | undefined>;
  /** True if a client must show something that not every client has. */
  asks(request: IncomingMessage): boolean;
  /** Counts a refusal, and logs it from time to time. */
  refused(reason: RefusalReason, text: string, address: string | undefined): void;
  close(): void;
}
