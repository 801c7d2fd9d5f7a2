import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
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
      'src/ground/ground.ts': "export * from '../mapping/a.js';",
      'src/mapping/a.ts': "\nimport type { B } from '../shm-bridge/b.js';\nimport fs from 'node:fs';",
      'src/shm-bridge/b.ts': "const a = await import('../mapping/z.js');\nimport { diag } from '@opentelemetry/api';",
      'src/mapping/z.ts': '',
      'src/settings/c.ts': "let d: import('../serve/d.js').D;",
      'src/instrumentation/joining/e.ts': "import '../../view/figures/f.js';",
      'src/view/figures/f.ts': "import '../../serve/d.js';",
      'src/process/g.ts': "import '../serve/d.js';",
      'src/serve/http/h.ts': "import '../../cli/read/i.js';",
      'src/cli/read/i.ts': "import '../../serve/d.js';",
      'src/serve/d.ts': "import '../page/../instrumentation/k.js'; import 'commander'; import '../../package.json';",
      'src/instrumentation/k.ts': '',
      'src/new/j.ts': "import '../ground/ground.js';",
    });
    expect(problems.sort()).toEqual([
      'src/cli/read/i.ts:1: cli/read must not import serve (src/serve/d.ts)',
      'src/ground/ground.ts:1: ground must not import mapping (src/mapping/a.ts)',
      'src/instrumentation/joining/e.ts:1: instrumentation must not import view/figures (src/view/figures/f.ts)',
      'src/mapping/a.ts:2: mapping must not import shm-bridge (src/shm-bridge/b.ts)',
      'src/mapping/a.ts:3: mapping must not import node:fs (node:fs)',
      'src/new/j.ts:1: no room of test/imports.mjs (src/new) must not import ground (src/ground/ground.ts)',
      'src/process/g.ts:1: process must not import serve (src/serve/d.ts)',
      'src/serve/d.ts:1: serve must not import commander (commander)',
      'src/serve/d.ts:1: serve must not import package.json (package.json)',
      'src/serve/http/h.ts:1: serve/http must not import cli/read (src/cli/read/i.ts)',
      'src/settings/c.ts:1: settings must not import serve (src/serve/d.ts)',
      'src/shm-bridge/b.ts:1: shm-bridge must not import mapping (src/mapping/z.ts)',
      'src/shm-bridge/b.ts:2: shm-bridge must not import @opentelemetry/api (@opentelemetry/api)',
      'src/view/figures/f.ts:1: view/figures must not import serve (src/serve/d.ts)',
    ]);
  });

  it('finds rooms and folders that are too large', () => {
    const many = Array.from({ length: 31 }, (_, i) => [`src/top/screen/f${i}.ts`, ''] as const);
    const problems = problemsOf({ ...Object.fromEntries(many), 'native/ring/a.cc': '\n'.repeat(7001) });
    expect(problems).toEqual(['native/ring has 7001 lines; at most 7000', 'src/top/screen has 31 files; at most 30']);
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

describe('names', () => {
  it('mean one thing: none is exported twice, no type of a file has the name of an exported one', () => {
    const exporters = new Map<string, string[]>();
    const types = new Map<string, string[]>();
    const add = (to: Map<string, string[]>, name: string, file: string) =>
      to.set(name, [...(to.get(name) ?? []), file]);
    for (const file of filesBelow('src', '.ts').filter((name) => !name.endsWith('.d.ts'))) {
      const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
      for (const statement of source.statements) {
        const isExported =
          ts.canHaveModifiers(statement) &&
          ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
        for (const name of declaredIn(statement)) {
          if (isExported) add(exporters, name, file);
          else if (!ts.isVariableStatement(statement) && !ts.isFunctionDeclaration(statement)) add(types, name, file);
        }
      }
    }
    expect(exporters.size).toBeGreaterThan(500);
    const clashes = [...exporters].map(([name, files]) => [name, [...new Set(files), ...(types.get(name) ?? [])]]);
    expect(clashes.filter(([, files]) => files!.length > 1)).toEqual([]);
  });
});

function declaredIn(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  }
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

describe('the native part', () => {
  it('includes its rooms in one direction', () => {
    const problems = problemsOf({
      'src/index.ts': '',
      'native/posix/a.h': '#include "ring/b.h"',
      'native/ring/b.h': '#include <map>\n#include "posix/a.h"\n#include "ring/c.h"\n#include "tally/d.h"',
      'native/collector/e.cc': '#include "tally/d.h"\n#include "addon/f.h"',
      'native/transfer-source/g.cc': '#include "ring/b.h"\n#include "tally/d.h"',
    });
    expect(problems).toEqual([
      'native/posix/a.h:1: native/posix must not include ring: #include "ring/b.h"',
      'native/ring/b.h:4: native/ring must not include tally: #include "tally/d.h"',
      'native/collector/e.cc:2: native/collector must not include addon: #include "addon/f.h"',
      'native/transfer-source/g.cc:2: native/transfer-source must not include tally: #include "tally/d.h"',
    ]);
  });

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
