/** Conversion of raw values into attribute values. */
import { check, listOf as checkedList } from '../ground/arguments.js';
import { countsOf } from '../ground/maps.js';

/** Shape of OpenTelemetry's attribute values, without an import of it. */
export type AttributeValue = string | number | boolean | string[];

/** `string` becomes a slug, `text` stays unchanged. */
export const ATTRIBUTE_TYPES = ['string', 'text', 'boolean', 'integer', 'list'] as const;
export type AttributeType = (typeof ATTRIBUTE_TYPES)[number];

const TRUE = /^(y|yes|true|on|1|enable|enabled)$/i;
const FALSE = /^(n|no|false|off|0|disable|disabled)$/i;

function withoutSigns(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '_');
}

/** Returns the text in lower case, with `_` for all but letters and digits: the same on every backend. */
export function slug(text: string): string {
  return withoutSigns(text).toLowerCase();
}

/** Converts a raw value. Returns undefined if it does not fit the type: the attribute's default then replaces it. */
export function convert(raw: unknown, type: AttributeType): AttributeValue | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  switch (type) {
    case 'string':
      return slug(textOf(raw));
    case 'text':
      return textOf(raw);
    case 'boolean':
      return booleanOf(raw);
    case 'integer':
      return integerOf(raw);
    case 'list':
      return listOf(raw);
  }
}

function textOf(raw: unknown): string {
  if (Array.isArray(raw)) return raw.map(textOf).join(',');
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- objects take the other branch
  return typeof raw === 'object' ? JSON.stringify(raw) : String(raw);
}

function booleanOf(raw: unknown): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  const text = textOf(raw).trim();
  if (TRUE.test(text)) return true;
  return FALSE.test(text) ? false : undefined;
}

function integerOf(raw: unknown): number | undefined {
  const text = textOf(raw).trim();
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Returns the elements of an array, or of a comma-separated text. */
function listOf(raw: unknown): string[] {
  const parts = Array.isArray(raw) ? raw.map(textOf) : textOf(raw).split(',');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/**
 * Returns one identifier for the GPUs of a process or job: their number, then each model with its number, sorted.
 * `['NVIDIA A100', 'NVIDIA A100', 'NVIDIA V100']` gives `3_NVIDIA_A100_2_NVIDIA_V100_1`, no GPU gives `0`.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function gpuIdentifier(names: readonly string[]): string {
  checkedList('names', names, (name, one) => check(typeof one === 'string', name, one, 'a text'));
  const models = [...countsOf(names.map(gpuSlug))].sort(([a], [b]) => (a < b ? -1 : 1));
  return [names.length, ...models.map(([model, count]) => `${model}_${count}`)].join('_');
}

/** Returns the name of a GPU in upper case, with `_` for all but letters and digits. */
export function gpuSlug(name: string): string {
  return withoutSigns(name.trim()).toUpperCase();
}
