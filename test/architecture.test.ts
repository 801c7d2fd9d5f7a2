import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** A folder src with these files: its problems as test/imports.mjs prints them. */
function problemsOf(sources: Record<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'nixl-otel-imports-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [file, text] of Object.entries(sources)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'test/imports.mjs'), folder], {
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  return stderr.split('\n').filter((line) => line !== '');
}

describe('the check of imports', () => {
  it('finds each wrong direction, of types and of dynamic imports as well', () => {
    const problems = problemsOf({
      'src/ground.ts': "export * from './mapping/a.js';",
      'src/mapping/a.ts': "\nimport type { B } from '../shm-bridge/b.js';\nimport fs from 'node:fs';",
      'src/shm-bridge/b.ts': "const a = await import('../mapping/z.js');\nimport { diag } from '@opentelemetry/api';",
      'src/mapping/z.ts': '',
      'src/settings/c.ts': "let d: import('../cli/serve/d.js').D;",
      'src/instrumentation/joining/e.ts': "import '../../cli/figures/f.js';",
      'src/cli/figures/f.ts': "import '../serve/d.js';",
      'src/cli/process/g.ts': "import '../serve/d.js';",
      'src/cli/http/h.ts': "import '../read/i.js';",
      'src/cli/read/i.ts': "import '../serve/d.js';",
      'src/cli/serve/d.ts': "import '../page/../figures/k.js'; import 'commander'; import '../../../package.json';",
      'src/cli/figures/k.ts': '',
      'src/new/j.ts': "import '../ground.js';",
    });
    expect(problems.sort()).toEqual([
      'src/cli/figures/f.ts:1: cli/figures must not import cli/serve (src/cli/serve/d.ts)',
      'src/cli/http/h.ts:1: cli/http must not import cli/read (src/cli/read/i.ts)',
      'src/cli/process/g.ts:1: cli/process must not import cli/serve (src/cli/serve/d.ts)',
      'src/cli/read/i.ts:1: cli/read must not import cli/serve (src/cli/serve/d.ts)',
      'src/cli/serve/d.ts:1: cli/serve must not import package.json (package.json)',
      'src/ground.ts:1: ground must not import mapping (src/mapping/a.ts)',
      'src/instrumentation/joining/e.ts:1: instrumentation must not import cli/figures (src/cli/figures/f.ts)',
      'src/mapping/a.ts:2: mapping must not import shm-bridge (src/shm-bridge/b.ts)',
      'src/mapping/a.ts:3: mapping must not import node:fs (node:fs)',
      'src/new/j.ts:1: no room of test/imports.mjs (src/new) must not import ground (src/ground.ts)',
      'src/settings/c.ts:1: settings must not import cli/serve (src/cli/serve/d.ts)',
      'src/shm-bridge/b.ts:1: shm-bridge must not import mapping (src/mapping/z.ts)',
      'src/shm-bridge/b.ts:2: shm-bridge must not import @opentelemetry/api (@opentelemetry/api)',
    ]);
  });

  it('finds circles of files, of types as well', () => {
    const problems = problemsOf({
      'src/mapping/a.ts': "import './b.js'; import './c.js';",
      'src/mapping/b.ts': "import './d.js';",
      'src/mapping/c.ts': "import './d.js';",
      'src/mapping/d.ts': "import type { B } from './b.js';",
    });
    expect(problems).toEqual(['circle: src/mapping/b.ts -> src/mapping/d.ts -> src/mapping/b.ts']);
  });
});

describe('the native part', () => {
  it('knows Node-API in the addon alone', () => {
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
