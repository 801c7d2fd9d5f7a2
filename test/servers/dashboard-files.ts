/** The shipped dashboards, and their expressions as Grafana sends them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { ROOT } from '../cli/command.js';

interface Panel {
  title: string;
  type: string;
  description: string;
  targets?: { expr: string; legendFormat: string }[];
  /** Panels of a collapsed row. */
  panels?: Panel[];
}

export interface Variable {
  name: string;
  type: string;
  query: string | { query: string };
  regex?: string;
}

export interface Dashboard {
  panels: Panel[];
  templating: { list: Variable[] };
  annotations: { list: { name: string; expr: string }[] };
}

export const DASHBOARDS = ['nixl-agents', 'nixl-fleet'].map(
  (name) => JSON.parse(readFileSync(path.join(ROOT, `deploy/grafana/${name}.json`), 'utf8')) as Dashboard,
);
export const PANELS = DASHBOARDS.flatMap(({ panels }) => panels)
  .flatMap((panel) => [panel, ...(panel.panels ?? [])])
  .filter(({ type }) => type !== 'row');

/** True for a panel of series that only the preset `full` has. */
export function needsFull({ description }: Pick<Panel, 'description'>): boolean {
  return description.includes('Needs `--series full`');
}

/** True for series of node_exporter. */
export function needsHost(expr: string): boolean {
  return expr.includes('(node_');
}

interface Chosen {
  host: string;
  agent?: string;
  __rate_interval?: string;
  __range?: string;
}

/** Replaces variables like Grafana, with all values chosen but those of the arguments. */
export function filledIn(text: string, chosen: Chosen): string {
  const all = { cluster: '.*', namespace: '.*', node: '.*', agent: '.*' };
  const values: Record<string, string> = { ...all, __rate_interval: '10s', __range: '1m', ...chosen };
  const filled = text.replace(/\$(\w+)/g, (_, name: string) => values[name]!);
  expect(filled).not.toContain('undefined');
  return filled;
}

/** Returns what the expression of an annotation compares. It has data also where there is nothing to mark. */
export function comparedIn(expr: string): string {
  return /^(.*) (?:>|==) 0$/s.exec(expr)![1]!;
}
