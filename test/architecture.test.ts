import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** What a file imports: package names, and paths relative to the root. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const names = [...text.matchAll(/(?:from|import)\s+'([^']+)'/g)].map((match) => match[1] as string);
  return names.map((name) => (name.startsWith('.') ? relative(root, resolve(root, dirname(file), name)) : name));
}

const MAY_IMPORT: Record<string, RegExp> = {
  mapping: /^src\/(mapping|errors|arguments|exact|package)/,
  'shm-bridge': /^src\/(shm-bridge|errors|arguments|exact|package)/,
  settings: /^src\/(settings|instrumentation|mapping|shm-bridge|errors|arguments|exact|package)/,
  instrumentation: /^src\/(instrumentation|settings|mapping|shm-bridge|errors|arguments|exact|package)/,
  cli: /^src\//,
};

describe('imports go one way', () => {
  for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
    it(`from ${room}`, () => {
      const files = filesBelow(`src/${room}`, '.ts');
      expect(files.length).toBeGreaterThan(2);
      for (const file of files) {
        for (const name of importsOf(file)) {
          if (name.startsWith('src/')) expect(name, file).toMatch(allowed);
          if (name.startsWith('@opentelemetry/')) expect(['settings', 'instrumentation', 'cli'], file).toContain(room);
          if (room === 'mapping') expect(name, `${file} is pure`).not.toMatch(/^node:/);
        }
      }
    });
  }

  it('and only the addon knows Node-API', () => {
    const knowing = [...filesBelow('native', '.cc'), ...filesBelow('native', '.h')].filter((file) =>
      /#include\s+[<"](napi\.h|node_api\.h|addon\/)/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(knowing.length).toBeGreaterThan(2);
    for (const file of knowing) expect(file).toMatch(/^native\/addon\//);
  });
});

describe('the package', () => {
  it('loads with require() as with import, and both are one', async () => {
    const main = join(root, 'dist/index.js');
    const required = createRequire(import.meta.url)(main) as Record<string, unknown>;
    const imported = (await import(/* @vite-ignore */ main)) as Record<string, unknown>;
    for (const name of ['NixlInstrumentation', 'NixlMetricProducer', 'MetricProcessor', 'NixlTelemetryError']) {
      expect(typeof required[name], name).toBe('function');
      expect(typeof imported[name], name).toBe('function');
    }
  });
});
