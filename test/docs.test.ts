/** Compares the documentation with the code, and runs its examples. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { DURATION_METRICS, SELF_METRICS } from '../src/instrumentation/self-metrics.js';
import { SERVE_METRICS } from '../src/instrumentation/serve-metrics.js';
import * as api from '../src/index.js';
import { PACKAGE_VERSION } from '../src/ground/package.js';
import { metricsOf, PRESETS, RELEASES } from '../src/mapping/index.js';
import * as rings from '../src/rings.js';
import { generated, modulesFrom } from '../packaging/generate.mjs';
import * as row from '../src/settings/row.js';
import * as serveRows from '../src/settings/serve-rows.js';
import * as testing from '../src/testing.js';
import { ROOT, RunningCommand, start, temporaryDirectory } from './cli/command.js';
import { codeOf } from './support/docs.js';
import { freePort } from './support/free-port.js';
import { until } from './support/until.js';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** The metrics of both namings, of the collector, of `serve`, of instruments of the API and of custom builders. */
const METRICS = [
  { name: 'nixl.builders.events', kind: 'counter' },
  ...metricsOf('nixl', { builders: PRESETS.full.builders }),
  ...metricsOf('otel', { builders: PRESETS.full.builders }),
  ...SELF_METRICS,
  ...Object.values(SERVE_METRICS).flat(),
  ...DURATION_METRICS,
];

const MOST_README_WORDS = 1200;
const MOST_WORDS = 38_000;

const PAGES = [
  'README.md',
  ...readdirSync(path.join(ROOT, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** test/matrix/services.test.ts runs the example with NodeSDK, which is no dependency of this repository. */
describe('README.md', () => {
  const text = read('README.md');

  it(`has at most ${MOST_README_WORDS} words`, () => {
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(MOST_README_WORDS);
  });

  it('has the example with NodeSDK in its top third', () => {
    const end = text.indexOf('```', text.indexOf('new NodeSDK('));
    expect(end).toBeGreaterThan(0);
    expect(text.slice(0, end).split('\n').length).toBeLessThanOrEqual(text.split('\n').length / 3);
  });
});

it(`docs/ has at most ${MOST_WORDS} words`, () => {
  const words = PAGES.filter((page) => page !== 'README.md').flatMap((page) => read(page).trim().split(/\s+/));
  expect(words.length).toBeLessThanOrEqual(MOST_WORDS);
});

describe('docs/metrics.md', () => {
  const text = read('docs/metrics.md');

  it.each([...new Set(METRICS.map(({ name }) => name))])('has %s', (name) => expect(text).toContain(`\`${name}\``));

  it('has no cell of 300 characters', () => {
    const cells = text.split('\n').flatMap((line) => (line.startsWith('|') ? line.split(' | ') : []));
    expect(cells.length).toBeGreaterThan(300);
    expect(cells.filter((cell) => cell.trim().length >= 300)).toEqual([]);
  });
});

describe('docs/performance.md', () => {
  const benches = readdirSync(path.join(ROOT, 'bench')).flatMap((file) => /^(.+)\.bench\.mjs$/.exec(file)?.[1] ?? []);

  it('has a row for each bench, and no other', () => {
    const [, results] = /\n## Results\n(.*?)\n## /s.exec(read('docs/performance.md'))!;
    const cells = [...results!.matchAll(/^\| (`.*?) +\|/gm)].map(([, cell]) => cell!);
    expect(cells.flatMap((cell) => cell.replaceAll('`', '').split(', ')).sort()).toEqual(benches.sort());
  });
});

describe('docs/ways-in.md', () => {
  it('has a service with a producer that serves metrics', async () => {
    const [example] = codeOf('docs/ways-in.md').filter((code) => code.includes('new NixlMetricProducer('));
    const directory = temporaryDirectory();
    const writer = new rings.RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
    writer.push({ type: 0, value: 42n });
    writer.close();
    const port = await freePort();
    const code = example!
      .replace("'/dev/shm/nixl'", JSON.stringify(directory))
      .replace("host: '127.0.0.1',", `$& port: ${port},`);
    const service = new RunningCommand(process.execPath, [serviceFile(code)]);
    await until(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
      return (await response?.text())?.includes('agent_name="agent"} 42');
    });
    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

/** Writes a program into a folder in which this package is installed. */
function serviceFile(code: string): string {
  const directory = temporaryDirectory();
  const modules = path.join(directory, 'node_modules');
  mkdirSync(modules);
  symlinkSync(path.join(ROOT, 'node_modules/@opentelemetry'), path.join(modules, '@opentelemetry'));
  symlinkSync(ROOT, path.join(modules, 'opentelemetry-instrumentation-nixl'));
  const file = path.join(directory, 'service.mjs');
  writeFileSync(file, code);
  return file;
}

describe('docs/testing.md', () => {
  const events = [...read('docs/testing.md').matchAll(/^\| `(\{.*?\})` /gm)].map(([, event]) => event!);

  it('has events that TestRings accepts', () => {
    const found = new testing.TestRings({ wireVersion: 1 });
    for (const event of events) found.write('agent', parse(event) as testing.TestEvent);
    expect(readdirSync(found.directory)).toEqual(['agent']);
    expect(events.length).toBeGreaterThanOrEqual(5);
    found.close();
  });
});

describe('generated from tables of the code', async () => {
  const load = (module: string) => import(/* @vite-ignore */ path.join(ROOT, `src/${module}.ts`)) as Promise<object>;
  const texts = await generated(await modulesFrom(load), read);

  it.each(Object.keys(texts))('is up to date in %s (npm run schema)', (name) => {
    expect(read(name)).toBe(texts[name]);
  });
});

describe('docs/packaging.md', () => {
  const steps = read('docs/packaging.md').split('## A release\n')[1]!;
  const named = [...steps.matchAll(/`([\w./-]+)`/g)].map(([, file]) => file!);
  const deployed = readdirSync(path.join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' })
    .map((file) => `deploy/${file}`)
    .filter((file) => statSync(path.join(ROOT, file)).isFile());
  const versions = [...PAGES, ...deployed].flatMap((file) => {
    const found = read(file).matchAll(/(?:nixl-otel(?:[: ]|, version: )|^Version )(\d+\.\d+\.\d+)\b/gm);
    return [...new Set([...found].map(([, version]) => version!))].map((version) => [file, version] as const);
  });

  it.each(versions)('names %s, which has the version %s', (file, version) => {
    expect(version).toBe(PACKAGE_VERSION);
    expect(named.some((one) => one === file || (one.endsWith('/') && file.startsWith(one)))).toBe(true);
  });

  it('names files that have the version', () => {
    expect(versions.length).toBeGreaterThanOrEqual(10);
    const files = named.filter((one) => /^(README|docs|deploy)\b.*[^/]$/.test(one) && !one.endsWith('Chart.yaml'));
    const without = files.filter((one) => !versions.some(([file]) => file === one));
    expect(without).toEqual(['deploy/try-image.mjs']); // a later step
  });
});

describe('docs/runbooks.md', () => {
  it('has a section for each alert, and each alert names it', () => {
    const alerts = read('deploy/prometheus/alerts.yml');
    const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
    const urls = [...alerts.matchAll(/runbook_url: (\S+)/g)].map(([, url]) => url);
    const files = 'https://unpkg.com/opentelemetry-instrumentation-nixl/';
    expect(urls).toEqual(names.map((name) => `${files}docs/runbooks.md#${name.toLowerCase()}`));
    const sections = [...read('docs/runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(names);
  });
});

describe('docs/migrating.md', () => {
  it('names the releases of each row of the table of releases', () => {
    const rows = read('docs/migrating.md').split('\n');
    for (const [release, { releases }] of Object.entries(RELEASES)) {
      const row = rows.find((text) => text.startsWith(`| \`${release}\``));
      expect(row?.split('|')[2]?.trim(), release).toBe(releases);
    }
  });
});

describe('docs/write-an-exporter.md', () => {
  it('has a template that runs unchanged', async () => {
    const [template] = codeOf('docs/write-an-exporter.md');
    const file = path.join(temporaryDirectory(), 'my-exporter.mjs');
    writeFileSync(file, template!);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', file]);
    await serve.says(/exports from/);
    const { code, stdout, stderr } = await serve.stop('SIGTERM');
    expect({ code, warnings: /warning|error/.exec(stderr) }).toEqual({ code: 0, warnings: null });
    expect(stdout).toContain('nixl.collector.ticks');
  });
});

describe('docs/loss.md', () => {
  it('names metrics that exist', () => {
    const exposed = METRICS.map(({ name, kind }) => {
      const text = name.replaceAll('.', '_');
      return kind === 'counter' && !text.endsWith('_total') ? `${text}_total` : text;
    });
    const labels = ['nixl_ring_state', 'nixl_duration_outcome'];
    const named = read('docs/loss.md').match(/\b(nixl|agent)_\w+/g)!;
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !exposed.includes(name) && !labels.includes(name))).toEqual([]);
  });
});

/** Sources of all messages and names. A test needs a whole sentence in one string literal. */
const SOURCES = ['src', 'native', 'bench']
  .flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => /\.(ts|mjs|cc|h)$/.test(file) && !file.includes('/build/'))
  .map(read)
  .join('\n');
const FLAGS = Object.values<row.OptionRow>(serveRows.ALL_SERVE_ROWS).flatMap((one) =>
  one.flag ? [row.flagName(one)] : [],
);
const isInSources = (text: string): boolean => SOURCES.includes(text) || FLAGS.includes(text);

describe.each([...PAGES, 'SECURITY.md'])('%s', (page) => {
  const text = read(page);

  it('names files and folders that exist', () => {
    const named = [...text.matchAll(/`((?:src|native|test|docs)\/[\w./-]+)`/g)].map(([, file]) => file!);
    expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  it('links to files and headings that exist', () => {
    for (const { link, target, anchor } of linksOf(page)) {
      expect(existsSync(path.join(ROOT, target)), link).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(read(target)), link).toContain(anchor);
    }
  });

  it('imports what the package exports', () => {
    const exported = { '': Object.keys(api), '/rings': Object.keys(rings), '/testing': Object.keys(testing) };
    const pattern = /import \{ (.*) \} from 'opentelemetry-instrumentation-nixl(|\/rings|\/testing)'/g;
    for (const [, names, entry] of text.matchAll(pattern)) {
      expect(exported[entry as keyof typeof exported]).toEqual(expect.arrayContaining(names!.split(', ')));
    }
  });

  it('shows examples as their files are', () => {
    for (const code of codeOf(page)) {
      const [firstLine, file] = /^\/\/ (examples\/\S+)\n/.exec(code) ?? [];
      if (file === undefined) continue;
      const withoutComment = read(file).replace(/^\/\*\*[\s\S]*?\*\/\n/, '');
      expect(code.slice(firstLine!.length), file).toBe(withoutComment);
    }
  });

  it('names metrics and flags that exist', () => {
    const dotted = [...text.matchAll(/(?<![/.])\bnixl(?:\.[a-z_]+)+\b/g)].map(([name]) => name);
    for (const name of dotted) expect(isInSources(`'${name}`), name).toBe(true);
    const events = [...text.matchAll(/\bagent_(?:[a-z]+_?)+(?=[{`[(,:)\s])/g)].map(([name]) => name);
    for (const name of events) {
      if (!['agent_name'].includes(name))
        expect(isInSources(name.replace(/_(bucket|sum|count)$/, '')), name).toBe(true);
    }
    const flags = [...text.matchAll(/(?<=[`\s])--[a-z][a-z-]+/g)].map(([flag]) => flag);
    for (const flag of flags) if (!FOREIGN_FLAGS.has(flag)) expect(isInSources(flag), flag).toBe(true);
  });
});

/** Links of a page to other files of the repository. */
function linksOf(page: string): { link: string; target: string; anchor: string | undefined }[] {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links
    .filter((link) => !/^https?:/.test(link))
    .map((link) => {
      const [file = '', anchor] = link.split('#');
      return { link, target: file === '' ? page : path.join(path.dirname(page), file), anchor };
    });
}

describe('the package', () => {
  const npm = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const packed = JSON.parse(execFileSync('npm', npm, { cwd: ROOT, stdio: 'pipe', encoding: 'utf8' })) as object;
  // Some versions of npm print an array, others an object keyed by the package's name.
  const { files } = (Object.values(packed) as { files: { path: string }[] }[])[0]!;
  const names = files.map((file) => file.path);

  it.each([...PAGES, 'SECURITY.md', 'deploy/README.md', 'examples/README.md'])('holds what %s links to', (page) => {
    expect(names).toContain(page);
    const missing = linksOf(page).filter(({ target }) => !names.includes(target));
    expect(missing.map(({ link }) => link)).toEqual([]);
  });
});

/** Flags of curl, Node, Docker, Prometheus, systemctl, esbuild, npm and packaging/dry-run.mjs. */
const FOREIGN_FLAGS = new Set([
  ...['--unix-socket', '--import', '--test', '--pid', '--enable-feature', '--now'],
  ...['--external', '--bundle', '--platform', '--outfile', '--banner', '--experimental-loader'],
  ...['--dry-run', '--list'],
]);

/** Anchors that GitHub derives from headings. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('docs/troubleshooting.md', () => {
  const rows = read('docs/troubleshooting.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const messages = rows.flatMap((row) =>
    [...row.split(' | ')[0]!.matchAll(/`([^`]+)`/g)].map(([, message]) => message!),
  );

  it.each(messages)('explains a message of the code: %s', (message) => {
    expect(isInSources(message)).toBe(true);
  });

  it('explains something', () => expect(messages.length).toBeGreaterThan(20));
});
