/** Parses a page in the Prometheus text format. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export function samplesOf(page: string): Sample[] {
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
      const pairs = [...labels.matchAll(LABEL)].map(([, key, text]) => [key!, unescaped(text!)]);
      return { name: name!, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
    });
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
}
