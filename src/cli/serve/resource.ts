/** Resource of the exported metrics. */
import os from 'node:os';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { PACKAGE_VERSION } from '../../package.js';

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the package's own attributes. */
export function serviceResource(): Resource {
  const own = resourceFromAttributes({
    'service.name': 'nixl-otel',
    'service.version': PACKAGE_VERSION,
    // Becomes the label `instance` in a Prometheus that receives OTLP. It stays the same after a restart, as the counts do.
    'service.instance.id': os.hostname(),
    'host.name': os.hostname(),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}
