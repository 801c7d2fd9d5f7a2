/** /metrics of a serve over real rings: the same series in both formats, and histograms with both kinds of buckets. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/rings.js';
import { BUILDER_NAMES } from '../../src/settings/metric-builder.js';
import { TransferEvent } from '../../src/ground/tally.js';
import { CHANGING, familiesIn, type Family, nativeCounts, textOf } from '../support/prometheus-families.js';
import { scrape, start, startTransferSource, temporaryDirectory, until, valueOf } from './command.js';

const PROTOBUF = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
/** All builders that can be combined: `categories` counts the events of `events`. */
const TOGETHER = BUILDER_NAMES.filter((name) => name !== 'categories');

async function families(url: string): Promise<Family[]> {
  const answer = await fetch(url, { headers: { accept: PROTOBUF } });
  return familiesIn(new Uint8Array(await answer.arrayBuffer()));
}

/** Series without changing values. */
function stable(lines: readonly string[]): string[] {
  const series = lines.filter((line) => line !== '' && !line.startsWith('# UNIT'));
  return series.map((line) => (CHANGING.test(line) ? line.slice(0, line.lastIndexOf(' ')) : line));
}

function histogram(found: readonly Family[], name: string) {
  return found.find((family) => family.name === name)!.metric![0]!.histogram!;
}

describe('protobuf at /metrics', () => {
  it.each(['nixl', 'otel'])('has the series of the text, from every builder, in naming %s', async (naming) => {
    const dir = temporaryDirectory();
    const config = path.join(temporaryDirectory(), 'nixl.json');
    writeFileSync(config, JSON.stringify({ naming, builders: TOGETHER, serve: { port: 0 } }));
    const serve = start(['serve', '--dir', dir, '--config', config, '--dead-ttl', '600000']);
    const [, url] = await serve.says(/serves (http:\S+)/);
    const { stdout } = await startTransferSource(['--dir', dir, '--seconds', '1', '--agents', '2', '--errors', '5'])
      .ended;
    const { agents } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { agents: { written: number }[] };
    const written = agents.reduce((sum, agent) => sum + agent.written, 0);
    await until(async () => {
      const page = await scrape(url!);
      return valueOf(page, 'nixl_events_total') === written && valueOf(page, 'nixl_agent_up') === 0;
    });
    const found = await families(url!);
    expect(stable(found.flatMap(textOf))).toEqual(stable((await scrape(url!)).split('\n')));
    // The value of each agent has existed since the start of its tally.
    for (const { metric = [] } of found.filter(({ type }) => type !== 'GAUGE')) {
      for (const { counter, histogram } of metric) {
        expect((counter ?? histogram)!.createdTimestamp.seconds).toBeGreaterThan(Date.now() / 1000 - 600);
      }
    }
  });

  it('has every value of a histogram in a native bucket around it', async () => {
    const dir = temporaryDirectory();
    const writer = new RingWriter(path.join(dir, 'agent'), { wireVersion: 4 });
    const values = [0, 0, 1, 2, 3, 16, 17, 1000, 1_000_000, 2 ** 40];
    for (const value of values) writer.push({ type: TransferEvent.XFER_TIME, value });
    const serve = start(['serve', '--dir', dir, '--port', '0']);
    const [, url] = await serve.says(/serves (http:\S+)/);
    const found = await until(async () => {
      const answer = await families(url!);
      const metric = answer.find(({ name }) => name === 'agent_xfer_time_us')?.metric?.[0];
      return metric?.histogram?.sampleCount === values.length && answer;
    });
    writer.close();
    const { schema, zeroCount, sampleSum } = histogram(found, 'agent_xfer_time_us');
    expect({ schema, zeroCount, sampleSum }).toEqual({
      schema: 4,
      zeroCount: 2,
      sampleSum: values.reduce((sum, value) => sum + value),
    });
    const expected = new Map<number, number>();
    for (const value of values.filter((value) => value > 0)) {
      const index = Math.ceil(Math.log2(value) * 16);
      expected.set(index, (expected.get(index) ?? 0) + 1);
    }
    expect(nativeCounts(histogram(found, 'agent_xfer_time_us'))).toEqual(expected);
    // No transfer has a size.
    expect(histogram(found, 'nixl_transfer_size')).toMatchObject({
      schema: 4,
      positiveSpan: [{ offset: 0, length: 0 }],
    });
  });
});
