/** Name, version and location of this package. */
import { NixlTelemetryError, type NixlTelemetryErrorCode } from './errors.js';

/** Name of the package and of the scope. Bundlers keep these constants; a test compares them with package.json. */
export const PACKAGE_NAME = 'opentelemetry-instrumentation-nixl';
export const PACKAGE_VERSION = '0.1.0';

/**
 * Returns the URL of the package's folder. Called at first use only: inside a bundle `import.meta.url` may name no file, or
 * be undefined. `wanted` and `code`: the part that needs the folder, and the error without it.
 * @throws NixlTelemetryError
 */
export function packageFolder(wanted: string, code: NixlTelemetryErrorCode = 'ADDON_MISSING'): URL {
  const url: unknown = import.meta.url;
  if (typeof url === 'string' && url.startsWith('file:///')) return new URL('..', url);
  const reason = `import.meta.url is ${String(url)}, which is no file`;
  throw new NixlTelemetryError(code, `${wanted} cannot be found: ${reason}; keep ${PACKAGE_NAME} out of the bundle`);
}
