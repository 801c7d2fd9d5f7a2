/** Compares the numbers of the page with a scrape of the same serve. */
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/mapping/index.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { run, scrape, start, startTransferSource, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { type Sample, samplesOf } from '../support/page.js';
import { chromiumPath, numbersIn, openPage } from './browser.js';

const SERIES: Readonly<Record<string, string>> = {
  'tx bytes': 'agent_tx_bytes_total',
  'rx bytes': 'agent_rx_bytes_total',
  'tx requests': 'agent_tx_requests_num_total',
  'rx requests': 'agent_rx_requests_num_total',
  errors: 'agent_errors_total',
  memory: 'nixl_memory_usage',
  dropped: 'agent_telemetry_events_dropped_total',
  'found full': 'nixl_ring_full_total',
  restarts: 'nixl_agent_restarts_total',
};

function sumOf(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const isAsked = (sample: Sample): boolean =>
    sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.filter(isAsked).reduce((sum, { value }) => sum + value, 0);
}

async function barsOf(page: Page, id: string): Promise<Record<string, number[]>> {
  const rows = Object.values(await numbersIn(page.locator(`#${id} .bars`)));
  const headings = Object.keys(rows[0] ?? {});
  return Object.fromEntries(
    headings.map((heading) => [heading, rows.map((row) => row[heading]!).filter((count) => count > 0)]),
  );
}

interface Written {
  agent: string;
  events: Record<string, { sum: string }>;
}

function written(events: Written['events']): Record<string, number> {
  const sum = (names: RegExp): number =>
    Object.entries(events).reduce((all, [name, { sum }]) => all + (names.test(name) ? Number(sum) : 0), 0);
  return {
    txBytes: sum(/^agent_tx_bytes$/),
    rxBytes: sum(/^agent_rx_bytes$/),
    requests: sum(/^agent_[tr]x_requests_num$/),
    errors: sum(/^agent_err_/),
  };
}

/** Serves agents that have ended their work, so that numbers can be compared. */
async function serveQuietAgents(naming: string): Promise<string> {
  const dir = temporaryDirectory();
  const serve = start(['serve', '--dir', dir, '--port', '0', '--naming', naming, '--dead-ttl', '600000']);
  const [, url] = await serve.says(/serves (http:\S+) from/);
  const flags = ['--agents', '3', '--transfers', '300', '--rate', '500', '--errors', '20', '--name', 'busy'];
  const source = await startTransferSource(['--dir', dir, ...flags]).ended;
  expect(source.code).toBe(0);
  const small = new RingWriter(path.join(dir, 'small'), { wireVersion: 4, capacity: 2 });
  const dropped = EVENTS.find(({ event }) => event === 'agent_telemetry_events_dropped')!.type;
  small.push({ type: dropped, value: 2n ** 60n });
  small.close();
  await until(async () => valueOf(await scrape(url!), 'nixl_ring_full_total', '"small"') > 0);
  return url!;
}

describe.skipIf(chromiumPath() === undefined)('the page', () => {
  it('shows the numbers of /metrics', async () => {
    const url = await serveQuietAgents('nixl');
    const { page } = await openPage(url);
    const samples = samplesOf(await scrape(url));
    const shown = await until(async () => {
      const rows = await numbersIn(page.locator('#agents'));
      return rows['small']?.['dropped'] === 2 ** 60 && rows;
    });
    expect(Object.keys(shown)).toEqual(['busy-0', 'busy-1', 'busy-2', 'small']);
    for (const [agent, numbers] of Object.entries(shown)) {
      const expected = Object.fromEntries(
        Object.entries(SERIES).map(([heading, name]) => [heading, sumOf(samples, name, { agent_name: agent })]),
      );
      expect({ agent, ...numbers }).toMatchObject({ agent, ...expected });
    }
    // The fill falls within half a minute after the last event.
    await until(async () => {
      const fill = (await numbersIn(page.locator('#agents')))['small']!['ring fill'];
      return fill === valueOf(await scrape(url), 'nixl_ring_utilization', '"small"');
    });
    expect(shown['busy-0']!['errors']).toBeGreaterThan(0);
    expect(shown['busy-0']!['tx bytes']).toBeGreaterThan(0);

    // Buckets of the bars and of /metrics differ; the number of values does not.
    const total = (bars: Record<string, number[]>): Record<string, number> =>
      Object.fromEntries(Object.entries(bars).map(([key, counts]) => [key, counts.reduce((sum, n) => sum + n, 0)]));
    const count = (name: string, labels = {}) => sumOf(samples, `${name}_count`, labels);
    expect(total(await barsOf(page, 'durations'))).toEqual({ transfers: count('agent_xfer_time_us') });
    expect(total(await barsOf(page, 'post-durations'))).toEqual({ transfers: count('agent_xfer_post_time_us') });
    expect(total(await barsOf(page, 'sizes'))).toEqual({
      tx: count('nixl_transfer_size', { direction: 'transmit' }),
      rx: count('nixl_transfer_size', { direction: 'receive' }),
    });
    const errors = Object.entries(await numbersIn(page.locator('#errors table')));
    const statuses = new Set(samples.flatMap(({ labels }) => labels['status'] ?? []));
    const counted = [...statuses].map((status) => [status, sumOf(samples, 'agent_errors_total', { status })] as const);
    expect(Object.fromEntries(errors.map(([status, row]) => [status, row['errors']]))).toEqual(
      Object.fromEntries(counted.filter(([, count]) => count > 0)),
    );

    const totals = await page
      .locator('#totals data')
      .evaluateAll((all: { value: string }[]) => all.map((one) => one.value));
    expect(totals.map(Number)).toEqual([
      sumOf(samples, 'agent_tx_bytes_total'),
      sumOf(samples, 'agent_rx_bytes_total'),
      sumOf(samples, 'agent_tx_requests_num_total') + sumOf(samples, 'agent_rx_requests_num_total'),
      sumOf(samples, 'agent_errors_total'),
      sumOf(samples, 'agent_memory_registered_total'),
      sumOf(samples, 'agent_telemetry_events_dropped_total'),
      sumOf(samples, 'nixl_ring_full_total'),
    ]);
  });

  it('shows the same in naming otel', async () => {
    const url = await serveQuietAgents('otel');
    const { page } = await openPage(url);
    const samples = samplesOf(await scrape(url));
    const shown = await until(async () => {
      const rows = await numbersIn(page.locator('#agents'));
      return rows['small']?.['found full'] === 1 && rows;
    });
    for (const [agent, numbers] of Object.entries(shown)) {
      const of = (direction: string) => ({ nixl_agent_name: agent, nixl_transfer_direction: direction });
      expect({ agent, ...numbers }).toMatchObject({
        agent,
        'tx bytes': sumOf(samples, 'nixl_transfer_io_total', of('transmit')),
        'rx bytes': sumOf(samples, 'nixl_transfer_io_total', of('receive')),
        errors: sumOf(samples, 'nixl_errors_total', { nixl_agent_name: agent }),
      });
    }
  });

  it('agrees with the reports of the agents, and with top', async () => {
    const dir = temporaryDirectory();
    const serve = start(['serve', '--dir', dir, '--port', '0', '--dead-ttl', '600000']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    const flags = ['--agents', '2', '--transfers', '300', '--rate', '500', '--errors', '20', '--name', 'busy'];
    const { stdout } = await startTransferSource(['--dir', dir, ...flags]).ended;
    const { agents } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { agents: Written[] };
    const expected = Object.fromEntries(agents.map(({ agent, events }) => [agent, written(events)]));
    const { page } = await openPage(url!);
    const shown = async () =>
      Object.fromEntries(
        Object.entries(await numbersIn(page.locator('#agents'))).map(([agent, row]) => [
          agent,
          {
            txBytes: row['tx bytes'],
            rxBytes: row['rx bytes'],
            requests: row['tx requests']! + row['rx requests']!,
            errors: row['errors'],
          },
        ]),
      );
    await expect.poll(shown, { timeout: 30_000 }).toEqual(expected);
    const top = await run(['top', '--url', new URL('/', url).href, '--once', '--json']);
    const printed = JSON.parse(top.stdout) as { agents: { agent: string; totals: unknown }[] };
    expect(Object.fromEntries(printed.agents.map(({ agent, totals }) => [agent, totals]))).toEqual(expected);
  });

  it("shows rates that match an agent's transfers", async () => {
    const dir = temporaryDirectory();
    const serve = start(['serve', '--dir', dir, '--port', '0']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    // 200 transfers per second of 64 KiB, in one direction.
    startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '200', '--sizes', '64k:1', '--reads', '0']);
    const { page } = await openPage(url!);
    const rate = async (heading: string) => (await numbersIn(page.locator('#agents')))['agent-0']?.[heading] ?? 0;
    // A flush comes every 100 ms, so a second may have one more or one less. A busy machine may delay several flushes.
    const near = (value: number, expected: number) => value > expected * 0.7 && value < expected * 1.3;
    await until(async () => near(await rate('requests'), 200) && near(await rate('tx rate'), 200 * 65_536));
    expect(await rate('rx rate')).toBe(0);
    const legend = page.locator('#throughput .legend .value');
    await until(async () => /^1\d MB\/s$/.test((await legend.allInnerTexts())[0]!));
    await expect.poll(() => page.locator('#transfer-time .legend').innerText()).toMatch(/p50 [\d.]+ [um]?s/);
  });
});
