/** Name, version and location of this package. */
import { readFileSync } from 'node:fs';
import { NixlTelemetryError, reasonOf, type NixlTelemetryErrorCode } from './errors.js';

/** Name of the package and of the scope. Bundlers keep these constants; a test compares them with package.json. */
export const PACKAGE_NAME = 'opentelemetry-instrumentation-nixl';
export const PACKAGE_VERSION = '0.1.0';

const KEEP_OUT =
  `keep ${PACKAGE_NAME} out of the bundle ` +
  `(esbuild: --external:${PACKAGE_NAME}; webpack: externals with externalsType; Next.js: serverExternalPackages)`;

/**
 * Returns the URL of the package's folder. Called at first use only: inside a bundle `import.meta.url` is undefined, names
 * no file, names the bundle, or names a file of the machine that built the bundle. `wanted` and `code`: the part that needs
 * the folder, and the error without it. `alternative`: what helps if the package must stay in the bundle.
 * @throws NixlTelemetryError
 */
export function packageFolder(
  wanted: string,
  code: NixlTelemetryErrorCode = 'ADDON_MISSING',
  alternative?: string,
): URL {
  const url: unknown = import.meta.url;
  const folder = typeof url === 'string' && url.startsWith('file:///') ? new URL('../..', url) : undefined;
  const problem = folder === undefined ? 'which is no file' : problemOf(folder);
  if (folder !== undefined && problem === undefined) return folder;
  const remedy = alternative === undefined ? KEEP_OUT : `${KEEP_OUT}, or ${alternative}`;
  throw new NixlTelemetryError(
    code,
    `${wanted} cannot be found from inside a bundle: ${remedy}; import.meta.url is ${String(url)}, ${problem}`,
  );
}

/** Returns undefined if the folder is that of this package. */
function problemOf(folder: URL): string | undefined {
  const file = new URL('package.json', folder);
  try {
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown };
    return name === PACKAGE_NAME ? undefined : `and ${file.pathname} is that of ${String(name)}`;
  } catch (error) {
    return `and ${file.pathname} cannot be read (${reasonOf(error)})`;
  }
}
