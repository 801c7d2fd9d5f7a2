/** The work of a real agent gives, line by line, the page of NIXL's exporter of that release. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { MeterProvider as ApiMeterProvider } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { NixlInstrumentation, NixlMetricProducer, type NixlOptions, type SeriesPreset } from '../../src/index.js';
import { SERIES_PRESETS } from '../../src/mapping/index.js';
import { start } from '../cli/command.js';
import { ManualReader, ofAnotherMake, scrape, scrapeOf } from '../instrumentation/readers.js';
import { temporaryDirectory } from '../support/live.js';
import { HOST, NIXL_PAGES, type NixlPage, nixlLines, orderOf, RANK } from '../support/nixl-pages.js';
import { samplesOf } from '../support/page.js';
import { RingProcess } from '../support/ring-process.js';

/** Has the agents of all tests. */
const agents = new RingProcess({ LOCAL_RANK: RANK }, afterAll);

/** Makes an agent that has done the page's work. `expected`: the lines that NIXL printed. */
async function agentOf(page: NixlPage): Promise<{ directory: string; expected: string[] }> {
  const directory = temporaryDirectory();
  await agents.write(orderOf(page, path.join(directory, page.agent)));
  const expected = nixlLines(page.samples).map((line) => line.replace('pid="X"', `pid="${agents.pid}"`));
  return { directory, expected };
}

/** Returns the lines to compare: with the series of NIXL the whole page, otherwise NIXL's own series in it. */
function linesOf(text: string, series: SeriesPreset): string[] {
  const samples = samplesOf(text);
  const lines = nixlLines(samples);
  if (series !== 'nixl') return lines;
  expect(samples).toHaveLength(lines.length);
  expect(text).not.toMatch(/nixl_|target_info/);
  return lines;
}

const optionsOf = ({ release, labels }: NixlPage, directory: string, series: SeriesPreset): NixlOptions => ({
  directories: directory,
  hostname: HOST,
  series,
  nixlRelease: release,
  nixlLabels: labels,
});

const CASES = Object.entries(NIXL_PAGES).flatMap(([release, page]) =>
  SERIES_PRESETS.map((series) => ({ release, page, series })),
);

describe.each(CASES)('the page of NIXL $release, with series $series,', ({ page, series }) => {
  it('is what serve shows', async () => {
    const { directory, expected } = await agentOf(page);
    const config = path.join(temporaryDirectory(), 'config.yaml');
    writeFileSync(config, `hostname: ${HOST}\n`);
    const flags = ['--nixl-release', page.release, '--nixl-labels', page.labels, '--series', series];
    const serve = start(['serve', '--dir', directory, '--port', '0', '--config', config, ...flags]);
    const [, url] = await serve.says(/serves (http:\S+)/);
    const lines = async () => linesOf(await (await fetch(url!)).text(), series);
    await expect.poll(lines).toEqual(expected);
  });

  it('is what a producer shows', async () => {
    const { directory, expected } = await agentOf(page);
    const producer = new NixlMetricProducer(optionsOf(page, directory, series));
    onTestFinished(() => producer.close());
    await expect.poll(async () => linesOf(await scrape(producer), series)).toEqual(expected);
  });

  it('is what an instrumentation shows', async () => {
    const { directory, expected } = await agentOf(page);
    const show = instrumented(page, directory, series, (provider) => provider);
    await expect.poll(show).toEqual(expected);
  });

  it("is what the instruments show with another vendor's provider", async () => {
    const { directory, expected: all } = await agentOf(page);
    // The API's histograms have no series before their first value.
    const isEmpty = (line: string): boolean => /_us_(bucket|count|sum)\{.* 0$/.test(line);
    const times = page.work['agent_xfer_time'] ?? [];
    const expected = times.length > 0 ? all : all.filter((line) => !isEmpty(line));
    await expect.poll(instrumented(page, directory, series, ofAnotherMake)).toEqual(expected);
  });
});

/** Returns a scrape of an instrumentation. `disguised`: makes the provider that the instrumentation sees. */
function instrumented(
  page: NixlPage,
  directory: string,
  series: SeriesPreset,
  disguised: (provider: MeterProvider) => ApiMeterProvider,
): () => Promise<string[]> {
  const reader = new ManualReader();
  const instrumentation = new NixlInstrumentation(optionsOf(page, directory, series));
  onTestFinished(() => instrumentation.disable());
  instrumentation.setMeterProvider(disguised(new MeterProvider({ readers: [reader] })));
  return async () => linesOf(await scrapeOf(reader), series);
}
