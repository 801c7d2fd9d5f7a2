/** Links from alerts and dashboards to the runbooks, and the commands of docs/dashboards.md that put another address in its place. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, temporaryDirectory } from './cli/command.js';
import { DASHBOARDS, PANELS } from './servers/dashboard-files.js';

/** Has the files of npm packages. */
const UNPKG = 'https://unpkg.com/opentelemetry-instrumentation-nixl/';
const BASE = 'https://git.example.com/nixl-otel/blob/main/';
const ALERTS = readFileSync(path.join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8');
const SECTIONS = [...ALERTS.matchAll(/- alert: (\w+)/g)].map(([, name]) => `docs/runbooks.md#${name!.toLowerCase()}`);

describe('dashboards', () => {
  it('link runbooks through a hidden constant, which the address of a page cannot change', () => {
    const descriptions = PANELS.map(({ description }) => description).join('\n');
    const links = [...descriptions.matchAll(/\[(.*?)\]\((.*?)\)/g)];
    expect(links.length).toBeGreaterThan(30);
    for (const [, text, target] of links) {
      expect(['docs/runbooks.md', ...SECTIONS]).toContain(text);
      expect(target).toBe(`\${runbooks}${text}`);
    }
    expect(descriptions.replace(/\[.*?\]\(.*?\)/g, '')).not.toContain('runbooks');
    for (const { templating } of DASHBOARDS) {
      const constant = { name: 'runbooks', type: 'constant', query: UNPKG, hide: 2, skipUrlSync: true };
      expect(templating.list).toContainEqual(constant);
    }
  });
});

describe('docs/dashboards.md', () => {
  it('has commands that put another address in place of that of the runbooks', () => {
    const folder = temporaryDirectory();
    for (const source of ['prometheus', 'grafana'])
      cpSync(path.join(ROOT, 'deploy', source), folder, { recursive: true });
    const [, commands] = /```sh\n(BASE=[\s\S]*?)```/.exec(readFileSync(path.join(ROOT, 'docs/dashboards.md'), 'utf8'))!;
    execFileSync('sh', ['-e', '-c', commands!], { cwd: folder });
    const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
    const urls = [...read('alerts.yml').matchAll(/runbook_url: (\S+)/g)].map(([, url]) => url);
    expect(urls).toEqual(SECTIONS.map((section) => `${BASE}${section}`));
    for (const file of ['nixl-agents.json', 'nixl-fleet.json']) {
      const { templating } = JSON.parse(read(file)) as (typeof DASHBOARDS)[number];
      expect(templating.list.find(({ name }) => name === 'runbooks')!.query).toBe(BASE);
    }
  });
});
