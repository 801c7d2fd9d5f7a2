/** Series of an agent on the page of serve, by preset: their number, their bytes, and the counts of events. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EVENTS, SERIES_PRESETS, type SeriesPreset } from '../../src/mapping/index.js';
import { RingWriter } from '../../src/rings.js';
import { ROOT, start } from '../cli/command.js';
import { allDrained, temporaryDirectory } from '../support/live.js';
import { type Sample, samplesOf } from '../support/page.js';
import { until } from '../support/until.js';

/** Rings of agents that have written each event of NIXL, and `more`. */
function directoryOf(agents: number, wireVersion: number, more: { name: string; category: number }[] = []): string {
  const directory = temporaryDirectory();
  for (let i = 0; i < agents; i++) {
    const writer = new RingWriter(path.join(directory, `agent-${i}`), { wireVersion, capacity: 1024 });
    for (const { type, event, wireVersion1Name = event, category } of EVENTS) {
      // Of wire versions before 3 the writer needs names and categories as well.
      for (let n = 0; n <= type; n++) writer.push({ type, name: wireVersion1Name, category, value: 1000 + n });
    }
    for (const event of more) writer.push({ ...event, value: 5 });
    onTestFinished(() => writer.close()); // while it is open, its lock shows that the agent lives
  }
  return directory;
}

async function pageOf(directory: string, series: SeriesPreset): Promise<string> {
  const serve = start(['serve', '--dir', directory, '--port', '0', '--series', series]);
  const [, url] = await serve.says(/serves (http:\S+)/);
  await allDrained(directory);
  const agents = readdirSync(directory).filter((name) => name.startsWith('agent')).length;
  let page = '';
  await until(async () => {
    page = await (await fetch(url!)).text();
    return series === 'nixl' || samplesOf(page).filter(({ name }) => name === 'nixl_agent_up').length === agents;
  });
  await serve.stop('SIGTERM');
  return page;
}

/** Number of series that docs/metrics.md states for the preset. */
function documented(series: SeriesPreset): number {
  const [, lines] = new RegExp(`^\\| \`${series}\` +\\| +(\\d+) lines`, 'm').exec(
    readFileSync(path.join(ROOT, 'docs/metrics.md'), 'utf8'),
  )!;
  return Number(lines);
}

describe.each(SERIES_PRESETS)('the preset %s', (series) => {
  it('has as many series of an agent as docs/metrics.md states', async () => {
    const samples = samplesOf(await pageOf(directoryOf(1, 4), series));
    const ofAgent = samples.filter(({ labels }) => labels['agent_name'] === 'agent-0');
    // Models of time, five numbers of each direction, need transfers of several sizes over half a minute.
    const models = series === 'nixl' ? 0 : 10;
    expect(ofAgent).toHaveLength(documented(series) - models);
    if (series === 'standard') expect(documented(series)).toBeLessThanOrEqual(140);
    const others = samples.length - ofAgent.length;
    expect(others === 0).toBe(series === 'nixl');
  });
});

it('the page of 64 agents has at most half of the bytes with standard', async () => {
  const [standard, full] = [await pageOf(directoryOf(64, 4), 'standard'), await pageOf(directoryOf(64, 4), 'full')];
  expect(samplesOf(standard).filter(({ name }) => name === 'nixl_agent_up')).toHaveLength(64);
  expect(standard.length / full.length).toBeLessThanOrEqual(0.5);
});

describe('events on the page', () => {
  const unknown = [
    { name: 'retry', category: 3 },
    { name: 'depth', category: 5 },
    ...Array.from({ length: 300 }, (_, i) => ({ name: `made-up-${i}`, category: 7 })),
  ];
  const byCategory = (samples: readonly Sample[]): Record<string, number> => {
    const sums: Record<string, number> = {};
    for (const { name, labels, value } of samples) {
      const category = labels['category']!;
      if (name === 'nixl_events_total') sums[category] = (sums[category] ?? 0) + value;
    }
    return sums;
  };

  it('count once each: sums by category are those of full, with 5 series of the events of NIXL', async () => {
    const [standard, full] = [
      samplesOf(await pageOf(directoryOf(1, 1, unknown), 'standard')),
      samplesOf(await pageOf(directoryOf(1, 1, unknown), 'full')),
    ];
    expect(byCategory(standard)).toEqual(byCategory(full));
    expect(byCategory(standard)).toMatchObject({ NIXL_TELEMETRY_MEMORY: 11, overflow: 302 - 256 });
    const events = standard.filter(({ name }) => name === 'nixl_events_total');
    expect(events.filter(({ labels }) => labels['event'] === undefined)).toHaveLength(5);
    expect(events.filter(({ labels }) => EVENTS.some(({ event }) => event === labels['event']))).toEqual([]);
  });

  it('that NIXL does not know have the same series with standard and full', async () => {
    const isUnknown = ({ name, labels }: Sample): boolean =>
      /^nixl_event(s|_value|_last|_distribution)/.test(name) &&
      'event' in labels &&
      !EVENTS.some(({ event }) => event === labels['event']);
    const [standard, full] = [
      samplesOf(await pageOf(directoryOf(1, 1, unknown.slice(0, 3)), 'standard')).filter(isUnknown),
      samplesOf(await pageOf(directoryOf(1, 1, unknown.slice(0, 3)), 'full')).filter(isUnknown),
    ];
    expect(standard).toEqual(full);
    const names = [...new Set(standard.map(({ name }) => name))];
    expect(names).toEqual(expect.arrayContaining(['nixl_events_total', 'nixl_event_value_total', 'nixl_event_last']));
    expect(standard.filter(({ name }) => name === 'nixl_event_value_total').map(({ value }) => value)).toEqual([
      5, 5, 5,
    ]);
  });
});
