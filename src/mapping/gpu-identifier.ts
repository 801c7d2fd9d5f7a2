/** One word for the GPUs that a process or a job has. */

import { check, listOf } from '../arguments.js';

/**
 * How many, then each name with how many of it, in sorted order: `['NVIDIA A100', 'NVIDIA A100', 'NVIDIA V100']` gives
 * `3_NVIDIA_A100_2_NVIDIA_V100_1`. Names are upper-cased, and what is no letter or digit becomes `_`. None: `0`.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function gpuIdentifier(names: readonly string[]): string {
  listOf('names', names, (name, one) => check(typeof one === 'string', name, one, 'a text'));
  const counts = new Map<string, number>();
  for (const name of names) {
    const word = gpuWord(name);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const kinds = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return [names.length, ...kinds.map(([word, count]) => `${word}_${count}`)].join('_');
}

export function gpuWord(name: string): string {
  return name
    .trim()
    .replaceAll(/[^\p{L}\p{N}]/gu, '_')
    .toUpperCase();
}
