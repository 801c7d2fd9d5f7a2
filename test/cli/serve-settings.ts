/** Settings of serve as its command resolves them. */
import type { WrittenSettings } from '../../src/settings/file.js';
import { namedFile, resolve } from '../../src/settings/resolve.js';
import type { Environment, Resolution } from '../../src/settings/row.js';
import {
  ALL_SERVE_ROWS,
  givenFlags,
  SERVE_SECTION,
  serveSettings,
  type ServeSettings,
} from '../../src/settings/serve-rows.js';

export function resolved(
  flags: Partial<ServeSettings>,
  environment: Environment,
): { resolution: Resolution; file: WrittenSettings | undefined } {
  const layers = { given: givenFlags(flags), givenBy: 'flag', environment } as const;
  const file = namedFile(layers, SERVE_SECTION);
  return { resolution: resolve(ALL_SERVE_ROWS, { ...layers, file }), file };
}

export function settingsOf(flags: Partial<ServeSettings>, environment: Environment): ServeSettings {
  return serveSettings(resolved(flags, environment).resolution);
}
