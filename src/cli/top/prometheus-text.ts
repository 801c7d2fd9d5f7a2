/** The Prometheus text format, as far as it is needed here: the samples of some metrics. Pure. */

export interface PageSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Only \n ends a line: what else a dot would stop at may stand in a name. */
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)/s;
const LABEL = /([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"/gs;
const SPECIAL: Readonly<Record<string, number>> = { '+Inf': Infinity, Inf: Infinity, '-Inf': -Infinity, NaN: NaN };

/** Lines that are none are passed over, and so are all metrics but the wanted ones. */
export function samplesOf(page: string, wanted: { has(name: string): boolean }): PageSample[] {
  const samples: PageSample[] = [];
  for (const line of page.split('\n')) {
    const [, name, labels = '', text] = LINE.exec(line) ?? [];
    if (name === undefined || !wanted.has(name)) continue;
    const value = SPECIAL[text!] ?? Number(text);
    samples.push({ name, labels: labelsIn(labels), value });
  }
  return samples;
}

function labelsIn(text: string): Record<string, string> {
  const pairs = [...text.matchAll(LABEL)].map(([, key, value]) => [key!, unescaped(value!)] as const);
  return Object.fromEntries(pairs);
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, char: string) => (char === 'n' ? '\n' : char));
}
