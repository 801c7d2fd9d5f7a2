/** Resource of the exported metrics. */
import os from 'node:os';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { PACKAGE_VERSION } from '../../ground/package.js';
import { InstanceId, type RingPlaces } from './instance-id.js';

// A Prometheus that receives OTLP makes the label `instance` of it.
const INSTANCE_ID = 'service.instance.id';

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the package's own attributes. */
export function serviceResource(): Resource {
  const own = resourceFromAttributes({
    'service.name': 'nixl-otel',
    'service.version': PACKAGE_VERSION,
    'host.name': os.hostname(),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

export class ServeResource {
  readonly #base = serviceResource();
  readonly #instance: InstanceId;
  #id: string | undefined;
  #resource = this.#base;

  constructor(places: RingPlaces) {
    this.#instance = new InstanceId(places);
  }

  /** Returns the resource of an export: the same object while its `service.instance.id` is the same. */
  current(): Resource {
    if (this.#base.attributes[INSTANCE_ID] !== undefined) return this.#base;
    const id = this.#instance.current();
    if (id !== this.#id) this.#resource = resourceFromAttributes({ [INSTANCE_ID]: id }).merge(this.#base);
    this.#id = id;
    return this.#resource;
  }
}
