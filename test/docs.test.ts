/** What the documentation says beside what the code does. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DURATION_METRICS } from '../src/instrumentation/self-metrics.js';
import { SELF_METRICS } from '../src/instrumentation/self-metrics.js';
import { metricsOf, RELEASES } from '../src/mapping/index.js';
import { SETTINGS } from '../src/cli/serve/setting-rows.js';
import { ROOT, start, temporaryDirectory } from './cli/command.js';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

describe('docs/settings.md', () => {
  const rows = read('docs/settings.md').split('\n');

  it.each(SETTINGS.map((row) => [row.flag.split(' ')[0]!, row] as const))('has %s and its variables', (flag, row) => {
    const line = rows.find((text) => text.startsWith(`| \`${flag}\``))!;
    for (const { variable } of row.environment ?? []) expect(line).toContain(`\`${variable}\``);
    if (typeof row.default === 'number') expect(line).toContain(String(row.default));
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
  it('has a template that works as it stands', async () => {
    const [, template] = /```js\n([\s\S]*?)```/.exec(read('docs/write-an-exporter.md'))!;
    const file = path.join(temporaryDirectory(), 'my-exporter.mjs');
    writeFileSync(file, template!);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', file]);
    await serve.says(/exports from/);
    const { code, stdout, stderr } = await serve.stop('SIGTERM');
    expect({ code, warnings: /warning|error/.exec(stderr) }).toEqual({ code: 0, warnings: null });
    expect(stdout).toContain('nixl.collector.ticks');
  });
});

describe.each(['docs/faults.md', 'SECURITY.md'])('%s', (file) => {
  const rows = read(file)
    .split('\n')
    .flatMap((line) => /\| `((?:native\/)?test\/\S+)`([^|]*)\|/.exec(line) ?? [])
    .map((text) => text.trim());

  it('names tests that there are', () => {
    expect(rows.length).toBeGreaterThan(30);
    for (let i = 0; i < rows.length; i += 3) {
      const [, testFile, name] = rows.slice(i, i + 3);
      expect(read(testFile!).replaceAll("\\'", "'")).toContain(name);
    }
  });
});

describe('docs/loss.md', () => {
  it('names metrics that there are', () => {
    const ofBuilders = { name: 'nixl.builders.events', kind: 'counter' };
    const metrics = [ofBuilders, ...metricsOf('nixl'), ...metricsOf('otel'), ...SELF_METRICS, ...DURATION_METRICS];
    const onPage = metrics.map(({ name, kind }) => {
      const text = name.replaceAll('.', '_');
      return kind === 'counter' && !text.endsWith('_total') ? `${text}_total` : text;
    });
    const labels = ['nixl_ring_state', 'nixl_duration_outcome'];
    const named = read('docs/loss.md').match(/\b(nixl|agent)_\w+/g)!;
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !onPage.includes(name) && !labels.includes(name))).toEqual([]);
  });
});
const PAGES = [
  'README.md',
  ...readdirSync(path.join(ROOT, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];
/** Everything that can be said or named: the sources, in which a sentence may go over two string literals. */
const SOURCES = ['src', 'native', 'bench']
  .flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => /\.(ts|mjs|cc|h)$/.test(file) && !file.includes('/build/'))
  .map(read)
  .join('\n');
const isSaid = (text: string): boolean => SOURCES.includes(text);

describe.each(PAGES)('%s', (page) => {
  const text = read(page);

  it('links to what is there', () => {
    for (const { link, target, anchor } of linksOf(page)) {
      expect(existsSync(path.join(ROOT, target)), link).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(read(target)), link).toContain(anchor);
    }
  });

  it('names metrics and flags that exist', () => {
    const dotted = [...text.matchAll(/\bnixl(?:\.[a-z_]+)+\b/g)].map(([name]) => name);
    for (const name of dotted) expect(isSaid(`'${name}`), name).toBe(true);
    const events = [...text.matchAll(/\bagent_(?:[a-z]+_?)+(?=[{`[(,:)\s])/g)].map(([name]) => name);
    for (const name of events) {
      if (!['agent_name'].includes(name)) expect(isSaid(name.replace(/_(bucket|sum|count)$/, '')), name).toBe(true);
    }
    const flags = [...text.matchAll(/(?<=[`\s])--[a-z][a-z-]+/g)].map(([flag]) => flag);
    for (const flag of flags) if (!FOREIGN_FLAGS.has(flag)) expect(isSaid(flag), flag).toBe(true);
  });
});

/** Of a page to others of ours. */
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
  // An array in some versions of npm, by the package's name in others.
  const { files } = (Object.values(packed) as { files: { path: string }[] }[])[0]!;
  const names = files.map((file) => file.path);

  it.each([...PAGES, 'SECURITY.md', 'deploy/README.md', 'examples/README.md'])('holds what %s links to', (page) => {
    expect(names).toContain(page);
    const missing = linksOf(page).filter(({ target }) => !names.includes(target));
    expect(missing.map(({ link }) => link)).toEqual([]);
  });
});

/** Of Node and of Docker. */
const FOREIGN_FLAGS = new Set(['--import', '--pid']);

/** As GitHub makes them of headings. */
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

  it.each(messages)('explains what is really said: %s', (message) => {
    expect(isSaid(message)).toBe(true);
  });

  it('explains something', () => expect(messages.length).toBeGreaterThan(20));
});
