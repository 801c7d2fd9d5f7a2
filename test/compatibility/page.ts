/**
 * Rows of the tables in docs/compatibility.md. The tests run what the rows say, with the versions that the rows name, so
 * that the page promises nothing else.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/package.js';

/** Commands in the column Proof, which leaves out `npm run`. */
export const PROOFS = ['npm test', 'npm run test:package', 'npm run test:matrix', 'npm run test:real'] as const;
export type Proof = (typeof PROOFS)[number];

/** Cells by the heading of their column. */
export type Row = Readonly<Record<string, string>>;

export const PAGE = 'docs/compatibility.md';

/** Returns the rows of each table, by the heading above it. */
export function tables(): ReadonlyMap<string, readonly Row[]> {
  const text = readFileSync(path.join(ROOT, PAGE), 'utf8');
  const sections = text.split(/^## /m).slice(1);
  return new Map(sections.map((section) => [section.slice(0, section.indexOf('\n')), rowsIn(section)]));
}

function rowsIn(section: string): Row[] {
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  const [head = [], , ...rows] = lines.map((line) => line.split('|').slice(1, -1));
  return rows.map((cells) =>
    Object.fromEntries(head.map((name, i) => [name.trim(), cells[i]!.trim().replace('`test:', '`npm run test:')])),
  );
}

/** Returns the rows of a section that this command proves, one for each version of Node.js that they list. */
export function rowsOf(section: string, proof: Proof): Row[] {
  return (tables().get(section) ?? [])
    .filter((row) => row['Proof'] === `\`${proof}\``)
    .flatMap((row) => {
      const { 'Node.js': nodes } = row;
      return nodes === undefined ? [row] : nodes.split(', ').map((node) => ({ ...row, 'Node.js': node }));
    });
}

/** Returns name and version of a cell: `yarn 4.18.1, Plug'n'Play`. */
export function nameAndVersion(cell: string): { name: string; version: string; how: string | undefined } {
  const [, name, version, how] = /^(.+?) (\d+(?:\.\d+)+)(?:, (.*))?$/.exec(cell) ?? [];
  if (name === undefined || version === undefined) throw new Error(`${PAGE}: no version in the cell "${cell}"`);
  return { name, version, how };
}
