/**
 * VictoriaMetrics translates differently only what no metric of this package has: colons, other characters than
 * letters, digits, `.`, `-`, `/`, `:` and spaces, and several words `total`.
 */
import { it } from 'vitest';
import { startVictoriaMetrics } from './backends.js';
import { expectOwnNames, NAMES } from './otlp-names.js';

it.each(NAMES)('every metric of naming %s arrives under its own name, %s', async (naming, form) => {
  const flags = form === 'translated' ? ['-opentelemetry.usePrometheusNaming'] : [];
  await expectOwnNames(await startVictoriaMetrics(flags), naming, form);
});
