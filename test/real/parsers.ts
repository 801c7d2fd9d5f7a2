/** Parsers of Prometheus' formats by others: of prometheus/common for Go, and of prometheus_client for Python. */
import { spawnSync } from 'node:child_process';
import { provideGoParser, providePythonParser } from './tools.js';

/** Values of series by keyOf() their labels. */
export type Samples = ReadonlyMap<string, number>;

export interface Parser {
  /** The format that it reads beside the text format. */
  readonly other: 'protobuf' | 'openmetrics';
  /** @throws with what the parser says about a page that it refuses */
  parse(page: Uint8Array, contentType: string): Samples;
}

/** Parsers by language, undefined where they cannot be made. */
export async function provideParsers(): Promise<Record<'Go' | 'Python', Parser | undefined>> {
  const go = await provideGoParser();
  const python = await providePythonParser();
  return {
    Go: go === undefined ? undefined : { other: 'protobuf', parse: (page, type) => parsed(page, go, [type]) },
    Python:
      python === undefined
        ? undefined
        : {
            other: 'openmetrics',
            parse: (page, type) => parsed(page, 'python3', [python.script, type], { PYTHONPATH: python.packages }),
          },
  };
}

/** Key of a series. Formats write the bounds of buckets in several ways. */
export function keyOf(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => [name, name === 'le' ? `${numberOf(value)}` : value]);
  return JSON.stringify(pairs.sort(([one], [other]) => (one! < other! ? -1 : 1)));
}

function parsed(input: Uint8Array, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Samples {
  const options = { input, env: { ...process.env, ...env }, maxBuffer: 64 << 20 };
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (status !== 0) throw error ?? new Error(`${program}: ${stderr.toString()}`);
  const samples = JSON.parse(stdout.toString()) as { labels: Record<string, string>; value: string }[];
  const values = new Map(samples.map(({ labels, value }) => [keyOf(labels), numberOf(value)]));
  if (values.size !== samples.length) throw new Error(`${samples.length - values.size} series are there twice`);
  return values;
}

function numberOf(text: string): number {
  const [, sign] = /^([+-]?)inf$/i.exec(text) ?? [];
  if (sign === undefined) return Number(text);
  return sign === '-' ? -Infinity : Infinity;
}
