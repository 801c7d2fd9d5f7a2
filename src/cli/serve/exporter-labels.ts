/** Values of the label `exporter`: short, without folders, each of one exporter. */
import path from 'node:path';
import { MODULE_PATH } from '../../settings/user-module.js';

/**
 * By the name that was asked for. That of a module is its file's, without folders and extension; a second one of the same
 * name has its number behind it.
 */
export function exporterLabels(names: readonly string[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  const taken = new Set<string>(names.filter((name) => !MODULE_PATH.test(name)));
  for (const name of names) labels.set(name, MODULE_PATH.test(name) ? free(path.parse(name).name, taken) : name);
  return labels;
}

function free(label: string, taken: Set<string>): string {
  let found = label;
  for (let n = 2; taken.has(found); n++) found = `${label}-${n}`;
  taken.add(found);
  return found;
}
