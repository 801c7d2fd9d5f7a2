/**
 * The instrumentation scope. A constant and no read of package.json, so that it survives bundlers; a test keeps it
 * equal to package.json.
 */
export const PACKAGE_NAME = 'opentelemetry-instrumentation-nixl';
export const PACKAGE_VERSION = '0.1.0';
