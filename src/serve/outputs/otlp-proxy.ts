/** Proxy of OTLP over HTTP, by HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Over gRPC its library reads such variables itself. */
import type { AgentOptions } from 'node:https';
import { note } from '../../process/output.js';
import { tlsFilesIn } from '../../settings/otlp-environment.js';

/** Hosts that no proxy reaches. Go's programs leave them out as well. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Returns the options of an agent that uses the proxy for this receiver; undefined without a proxy. A Node.js that knows no
 * proxies is reported.
 */
export function proxiedAgent(receiver: URL, environment = process.env): AgentOptions | undefined {
  const names = receiver.protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const name = names.find((one) => environment[one]?.trim());
  if (name === undefined || LOOPBACK.test(receiver.hostname)) return undefined;
  if (knowsProxies()) {
    // In place of the SDK's own agent, which has the files of the certificates.
    return { keepAlive: true, ...tlsFilesIn(environment), proxyEnv: environment } as AgentOptions;
  }
  if (!isExcepted(receiver.hostname, environment['no_proxy'] ?? environment['NO_PROXY'] ?? '')) {
    const since = 'it needs Node.js 24.5, or 22.21, or OTLP over grpc';
    note(`exporter otlp does not use ${name} with Node.js ${process.versions.node}: ${since}`, 'warning');
  }
  return undefined;
}

/** Returns whether an http.Agent of this Node.js has the option `proxyEnv`. */
function knowsProxies(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}

function isExcepted(host: string, list: string): boolean {
  return list
    .split(/[\s,]+/)
    .map((entry) => entry.replace(/^\*?\./, '').replace(/:\d+$/, ''))
    .some((entry) => entry === '*' || entry === host || (entry !== '' && host.endsWith(`.${entry}`)));
}
