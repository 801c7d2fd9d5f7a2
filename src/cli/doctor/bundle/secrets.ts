/** Replaces secrets in what a bundle holds, wherever they stand: in settings, variables, messages and answers. Pure. */
import type { Environment } from '../../../settings/row.js';

/** Stands in place of a secret. */
export const REMOVED = '[removed by doctor]';

const SECRET_WORDS =
  'passw(?:or)?d|passphrase|secret|token(?!iz)|credential|authorization|cookie|headers|(?:api|access|private)[_-]?key|client[_-]?key';
const SECRET_NAME = new RegExp(SECRET_WORDS, 'i');
/** Values of settings as MAX_TOKENS: replaced everywhere, they would hide other settings. */
const PLAIN_VALUE = /^(?:[\d.]+|true|false|yes|no|on|off|none|auto)$/i;
/** A shorter one would be found in other words. */
const LEAST_LENGTH = 4;

/** Up to the last @: an address that was refused may have more than one. */
const USER_IN_ADDRESS = /\/\/[^\s"'<>]*@/g;
const USER_WITHOUT_SCHEME = /[^\s"'<>/@:=]+:[^\s"'<>/@]+@(?=[\w[])/g;
const QUERY_VALUE = /([?&][^\s"'<>=&#]*=)[^\s"'<>&#]+/g;
const SCHEME_OF_CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi;
const ASSIGNED = new RegExp(String.raw`([\w.-]*(?:${SECRET_WORDS})[\w.-]*=)[^\s"'<>&;]+`, 'gi');

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
      return [this.#withoutInText(name), isHidden && one != null ? REMOVED : this.without(one)];
    });
    return Object.fromEntries(shown);
  }

  #withoutInText(text: string): string {
    let shown = text;
    for (const secret of this.#known) shown = shown.replaceAll(secret, REMOVED);
    return shown
      .replaceAll(USER_IN_ADDRESS, `//${REMOVED}@`)
      .replaceAll(USER_WITHOUT_SCHEME, `${REMOVED}@`)
      .replaceAll(QUERY_VALUE, `$1${REMOVED}`)
      .replaceAll(SCHEME_OF_CREDENTIALS, `$1 ${REMOVED}`)
      .replaceAll(ASSIGNED, `$1${REMOVED}`);
  }
}

/** Returns the values of variables with the name of a secret, and the values of the pairs in them, as of OTEL_EXPORTER_OTLP_HEADERS. */
export function secretsIn(environment: Environment): string[] {
  return Object.entries(environment).flatMap(([name, text = '']) => {
    if (!SECRET_NAME.test(name)) return [];
    const ofPairs = text.split(',').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
    return [text.trim(), ...ofPairs, ...ofPairs.map(decoded)].filter((one) => !PLAIN_VALUE.test(one));
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
