/** Outputs of serve: one per exporter over one source, each with a separate producer. */
import path from 'node:path';
import { BUILT_IN_EXPORTERS } from '../../settings/serve-rows.js';
import { MODULE_PATH } from '../../settings/user-module.js';
import { orFailure } from '../../process/failure.js';
import type { Opening, Output, OutputContext } from './output.js';
import { Owner } from './owners.js';

/**
 * Returns the label of each exporter: a name, or the file name of a module, without folders and extension. A second module
 * of the same name gets a number.
 */
export function exporterLabels(names: readonly string[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  const taken = new Set<string>(names.filter((name) => !MODULE_PATH.test(name)));
  for (const name of names) labels.set(name, MODULE_PATH.test(name) ? unique(path.parse(name).name, taken) : name);
  return labels;
}

function unique(label: string, taken: Set<string>): string {
  let found = label;
  for (let n = 2; taken.has(found); n++) found = `${label}-${n}`;
  taken.add(found);
  return found;
}

/**
 * Loads the modules of this output and of no other.
 * @throws Failure
 */
export async function openOutput(name: string, context: OutputContext): Promise<Output> {
  const isBuiltIn = BUILT_IN_EXPORTERS.includes(name);
  const owner = new Owner(`exporter ${name}`, { isBuiltIn, exports: context.exportLogs.get(name)! });
  const opening: Opening = { ...context, name, owner };
  switch (name) {
    case 'prometheus':
      return (await import('./prometheus-output.js')).prometheusOutput(opening);
    case 'console':
      return (await import('./push-output.js')).consoleOutput(opening);
    case 'otlp':
      return (await import('./push-output.js')).otlpOutput(opening);
    default: {
      const { customOutput } = await import('./custom-output.js');
      return orFailure(`exporter ${name} cannot be used`, () => customOutput(opening));
    }
  }
}
