/** Replaces secrets in what a bundle holds, wherever they stand: in settings, variables, messages and answers. Pure. */
import type { Environment } from '../../../settings/row.js';

/** Text in place of a secret. */
export const REMOVED = '[removed by doctor]';

const SECRET_WORDS =
  'passw(?:or)?d|passphrase|secret|token(?!iz)|credential|authorization|cookie|headers|(?:api|access|private)[_-]?key|client[_-]?key';
const SECRET_NAME = new RegExp(SECRET_WORDS, 'i');
/** Values of settings as MAX_TOKENS: replaced everywhere, they would hide other settings. */
const PLAIN_VALUE = /^(?:[\d.]+|true|false|yes|no|on|off|none|auto)$/i;
/** A shorter one would be found in other words. */
const LEAST_LENGTH = 4;
/** A shorter one is replaced only where it is a whole word. */
const LONG_ENOUGH = 8;

/** Up to the last @: an address that was refused may have more than one. */
const USER_IN_ADDRESS = /\/\/[^\s"'<>]{0,500}@/g;
const USER_WITHOUT_SCHEME = /(?<![^\s"'<>/@:=])[^\s"'<>/@:=]{1,200}:[^\s"'<>/@]{1,200}@(?=[\w[])/g;
const QUERY_VALUE = /([?&][^\s"'<>=&#]{0,200}=)[^\s"'<>&#]+/g;
const SCHEME_OF_CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]{4,}/gi;
/** `api_key=`, `"secret_key": "`, `X-Api-Key: `, `--api-key `. Lengths are bounded: names of files and answers are not. */
const NAMED = String.raw`[\w.-]{0,60}(?:${SECRET_WORDS})[\w.-]{0,60}`;
const ASSIGNED = new RegExp(String.raw`((?<![\w.-])${NAMED}(?:["']?\s{0,3}[:=]\s{0,3}["']?))(?!\s)[^\s"'<>&]+`, 'gi');
const OF_FLAG = new RegExp(String.raw`(--${NAMED}\s{1,3})[^\s"'<>-][^\s"'<>]*`, 'gi');

export class Secrets {
  /** Longest first: one may be a part of another. */
  readonly #known: readonly string[];

  /** `known`: texts that are secrets by themselves. */
  constructor(known: readonly string[]) {
    const all = new Set(known.filter((one) => one.length >= LEAST_LENGTH));
    this.#known = [...all].sort((a, b) => b.length - a.length);
  }

  /** Returns a copy of a value that can be written as JSON. The value of a field with the name of a secret is replaced as a whole. */
  without(value: unknown): unknown {
    if (typeof value === 'string') return this.#withoutInText(value);
    if (Array.isArray(value)) return value.map((one) => this.without(one));
    if (typeof value !== 'object' || value === null) return value;
    // An attribute of the settings: its name says what its value is.
    const isSecret = 'name' in value && typeof value.name === 'string' && SECRET_NAME.test(value.name);
    const shown = Object.entries(value).map(([name, one]: [string, unknown]) => {
      const isHidden = SECRET_NAME.test(name) || (isSecret && ['source', 'default', 'value'].includes(name));
      // Keys are names of this program. A number is no secret: `tokens` of a model.
      const isHideable = one != null && typeof one !== 'number' && typeof one !== 'boolean';
      return [name, isHidden && isHideable ? REMOVED : this.without(one)];
    });
    return Object.fromEntries(shown);
  }

  #withoutInText(text: string): string {
    let shown = text;
    for (const secret of this.#known) shown = shown.replaceAll(found(secret), () => REMOVED);
    return shown
      .replaceAll(USER_IN_ADDRESS, `//${REMOVED}@`)
      .replaceAll(USER_WITHOUT_SCHEME, `${REMOVED}@`)
      .replaceAll(QUERY_VALUE, `$1${REMOVED}`)
      .replaceAll(SCHEME_OF_CREDENTIALS, `$1 ${REMOVED}`)
      .replaceAll(ASSIGNED, `$1${REMOVED}`)
      .replaceAll(OF_FLAG, `$1${REMOVED}`);
  }
}

function found(secret: string): string | RegExp {
  if (secret.length >= LONG_ENOUGH) return secret;
  return new RegExp(String.raw`(?<!\w)${secret.replaceAll(/[^\w\s]/g, String.raw`\$&`)}(?!\w)`, 'g');
}

/** Returns the values of variables with the name of a secret, and the values of the pairs in them, as of OTEL_EXPORTER_OTLP_HEADERS. */
export function secretsIn(environment: Environment): string[] {
  return Object.entries(environment).flatMap(([name, text = '']) => {
    if (!SECRET_NAME.test(name)) return [];
    const ofPairs = text.split(',').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
    const plain = ofPairs.map(decoded);
    const bare = plain.map((one) => one.replace(/^(?:Bearer|Basic)\s+/i, ''));
    return [text.trim(), ...ofPairs, ...plain, ...bare].filter((one) => !PLAIN_VALUE.test(one));
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
