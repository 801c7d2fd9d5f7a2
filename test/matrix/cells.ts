/** The major versions of OpenTelemetry JS (lines), and the Nodes for each. */
import { tool } from '../support/package.js';

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
  readonly npm: string;
  readonly otel: '2' | '3';
  readonly line: Line;
}

/** npm 12 needs a newer Node than 20; OpenTelemetry 3 needs 22.15. */
export const CELLS: readonly Cell[] = [
  { node: '20.20.2', npm: '11.21.2', otel: '2', line: LINE_2 },
  { node: '22.23.3', npm: '12.2.0', otel: '3', line: LINE_3 },
  { node: '24.21.0', npm: '12.2.0', otel: '3', line: LINE_3 },
];

export const nameOf = ({ node, otel }: Cell): string => `Node ${node} with OpenTelemetry ${otel}`;

/** The programs of a cell, fetched from npm once for all runs. */
export async function programsOf({ node, npm }: Cell): Promise<{ node: string; npm: string }> {
  const name = `node-linux-${process.arch}`;
  return {
    node: await tool(`${name}@${node}`, `${name}/bin/node`),
    npm: await tool(`npm@${npm}`, 'npm/bin/npm-cli.js'),
  };
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
