/** What an attribute's raw value becomes. */

/** The shape of OpenTelemetry's attribute values, without importing it. */
export type AttributeValue = string | number | boolean | string[];

/** `string` is made a plain word (see plainWord), `text` is left as it is. */
export type AttributeType = 'string' | 'text' | 'boolean' | 'integer' | 'list';

export const ATTRIBUTE_TYPES: readonly AttributeType[] = ['string', 'text', 'boolean', 'integer', 'list'];

const TRUE = /^(y|yes|true|on|1|enable|enabled)$/i;
const FALSE = /^(n|no|false|off|0|disable|disabled)$/i;

/** Lower case, and `_` for what is no letter or digit: the same on every backend. */
export function plainWord(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '_').toLowerCase();
}

/** Undefined where the raw value is nothing of this type: the attribute's default takes its place. */
export function convert(raw: unknown, type: AttributeType): AttributeValue | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  switch (type) {
    case 'string':
      return plainWord(textOf(raw));
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
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- objects were told above
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

/** Elements of an array, or of a text with commas between them. */
function listOf(raw: unknown): string[] {
  const parts = Array.isArray(raw) ? raw.map(textOf) : textOf(raw).split(',');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
