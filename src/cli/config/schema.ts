/** The JSON Schema of configuration files, for editors: from the very shapes that check them. */
import { fileShape } from '../../settings/config-file.js';
import { SERVE_SECTION } from '../serve/settings.js';

export function configSchema(): Record<string, unknown> {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of opentelemetry-instrumentation-nixl',
    ...fileShape(SERVE_SECTION).schema,
  };
}
