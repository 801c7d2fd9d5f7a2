/** The major versions of OpenTelemetry JS (lines), and the Nodes for each. */
import { rowsOf } from '../compatibility/page.js';
import { nodeOf, npmFor } from '../compatibility/service.js';

/** Version ranges in the package.json of a service of that line. */
interface Line {
  readonly api: string;
  /** For packages with the line's number as major version. */
  readonly stable: string;
  /** For packages with major version 0. */
  readonly experimental: string;
  /** For the package that starts the SDK and all instrumentations without code. */
  readonly auto: string;
}

const LINE_2: Line = { api: '~1.9.0', stable: '^2.0.0', experimental: '~0.223.0', auto: '~0.81.0' };
const LINE_3: Line = { api: '^1.10.0', stable: '^3.0.0', experimental: '^0.301.0', auto: '~0.82.0' };

export interface Cell {
  readonly node: string;
  readonly otel: string;
  readonly line: Line;
}

const LINES: Readonly<Record<string, Line>> = { 2: LINE_2, 3: LINE_3 };

/** OpenTelemetry 3 needs Node.js 22.15. */
export const CELLS: readonly Cell[] = rowsOf('Node.js and OpenTelemetry', 'npm run test:matrix').map((row) => {
  const { 'Node.js': node, OpenTelemetry: otel } = row as { 'Node.js': string; OpenTelemetry: string };
  return { node, otel, line: LINES[otel]! };
});

export const nameOf = ({ node, otel }: Cell): string => `Node ${node} with OpenTelemetry ${otel}`;

/** The programs of a cell, fetched from npm once for all runs. */
export async function programsOf({ node }: Cell): Promise<{ node: string; npm: string }> {
  return { node: await nodeOf(node), npm: await npmFor(node) };
}

const STABLE = ['core', 'resources', 'sdk-metrics'];

/** Package names with the versions of the line, for `npm install`. */
export function packages(line: Line, names: readonly string[]): string[] {
  return names.map((name) => {
    if (name === 'api') return `@opentelemetry/api@${line.api}`;
    if (name === 'auto-instrumentations-node') return `@opentelemetry/${name}@${line.auto}`;
    return `@opentelemetry/${name}@${STABLE.includes(name) ? line.stable : line.experimental}`;
  });
}
