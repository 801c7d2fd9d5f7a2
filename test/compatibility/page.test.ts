/** docs/compatibility.md: each row has a proof that exists. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PLATFORMS } from '../../packaging/platforms.mjs';
import { ROOT } from '../support/package.js';
import { PROOFS, tables } from './page.js';
import { SECTIONS } from './prove.js';

/** Sections whose rows other files run: the cells of the matrix, and the binaries of other platforms. */
const ELSEWHERE = {
  'Node.js and OpenTelemetry': 'test/matrix/cells.ts',
  Platforms: 'test/package/platforms.test.ts',
  NIXL: 'test/real/nixl.test.ts',
  'Prometheus and OpenTelemetry Collector': 'test/real/collector.test.ts',
};

const BY_HAND = /^by hand, \d{4}-\d{2}-\d{2}$/;
const found = tables();

test('each section has tests that run its rows', () => {
  expect([...found.keys()].sort()).toEqual([...Object.keys(SECTIONS), ...Object.keys(ELSEWHERE)].sort());
  for (const file of Object.values(ELSEWHERE)) expect(existsSync(path.join(ROOT, file)), file).toBe(true);
});

test.each([...found].flatMap(([section, rows]) => rows.map((row) => [section, row] as const)))(
  '%s: the proof of %j is a command or a day',
  (section, { Proof: proof = '' }) => {
    const isCommand = PROOFS.some((name) => proof === `\`${name}\`` || proof.startsWith(`\`${name}\`, `));
    expect(isCommand || BY_HAND.test(proof), proof).toBe(true);
    // Only rows with the bare command are found by it.
    if (section in SECTIONS) expect(proof).not.toMatch(/`, /);
  },
);

test('Prometheus and the collector are those that the tests build', () => {
  const modules = (folder: string) => readFileSync(path.join(ROOT, 'test/real', folder, 'go.mod'), 'utf8');
  const versionOf = (module: string, text: string) => new RegExp(`^\\s*${module} v([\\d.]+)`, 'm').exec(text)?.[1];
  const prometheus = versionOf('github.com/prometheus/prometheus', modules('prometheus'))!.replace(/^0\.3/, '3.');
  const collector = versionOf('go.opentelemetry.io/collector/otelcol', modules('collector'))!;
  const rows = found.get('Prometheus and OpenTelemetry Collector')!;
  const wheel = readFileSync(path.join(ROOT, 'test/real/parsers/prometheus_client.txt'), 'utf8');
  expect(rows.map(({ Program }) => Program)).toEqual([
    `Prometheus ${prometheus}`,
    `prometheus/common ${versionOf('github.com/prometheus/common', modules('parsers'))} (Go)`,
    `prometheus_client ${/==([\d.]+)/.exec(wheel)![1]} (text)`,
    `OpenTelemetry Collector ${collector}`,
  ]);
});

test('the platforms are those of the binaries', () => {
  const names = found.get('Platforms')!.map((row) => row['Platform']!);
  expect(names.filter((name) => name.startsWith('linux-')).sort()).toEqual([...PLATFORMS].sort());
});
