/** Prometheus' text format. Pure. */

export interface ExposedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Only \n ends a line. A name may hold other characters at which a dot would stop. */
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)/s;
const LABEL = /([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"/gs;
const SPECIAL: Readonly<Record<string, number>> = { '+Inf': Infinity, Inf: Infinity, '-Inf': -Infinity, NaN: NaN };

/** Returns the wanted series. Lines that are no series are left out; labels of unwanted ones are not parsed. */
export function* exposedSamples(exposition: string, isWanted: (name: string) => boolean): Generator<ExposedSample> {
  for (const line of exposition.split('\n')) {
    const [, name = '', labels = '', text] = LINE.exec(line) ?? [];
    if (name === '' || !isWanted(name)) continue;
    yield { name, labels: labelsIn(labels), value: SPECIAL[text!] ?? Number(text) };
  }
}

function labelsIn(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(LABEL)].map(([, key, value]) => [key!, unescaped(value!)]));
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, char: string) => (char === 'n' ? '\n' : char));
}
