/** Compares the numbers of the page with a scrape of the same serve. */
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/mapping/index.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { run, scrape, start, startTransferSource, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { type Sample, samplesOf } from '../support/page.js';
import { cell, chromiumPath, countsIn, numbersIn, openPage, rowsOf } from './browser.js';

/** Labels of facts in the panel. */
const SERIES: Readonly<Record<string, string>> = {
  tx: 'agent_tx_bytes_total',
  rx: 'agent_rx_bytes_total',
  'tx requests': 'agent_tx_requests_num_total',
  'rx requests': 'agent_rx_requests_num_total',
  'Registered now': 'nixl_memory_usage',
  'Ever registered': 'agent_memory_registered_total',
  'Dropped by the agent': 'agent_telemetry_events_dropped_total',
};

function sumOf(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const isAsked = (sample: Sample): boolean =>
    sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.filter(isAsked).reduce((sum, { value }) => sum + value, 0);
}

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((all, count) => all + count, 0);

interface Written {
  agent: string;
  events: Record<string, { sum: string }>;
}

function written(events: Written['events']): Record<string, number> {
  const total = (names: RegExp): number =>
    Object.entries(events).reduce((all, [name, { sum }]) => all + (names.test(name) ? Number(sum) : 0), 0);
  return {
    txBytes: total(/^agent_tx_bytes$/),
    rxBytes: total(/^agent_rx_bytes$/),
    requests: total(/^agent_[tr]x_requests_num$/),
    errors: total(/^agent_err_/),
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

/** Opens the panel of an agent, and returns its numbers. */
async function panelOf(page: Page, agent: string): Promise<Record<string, number>> {
  await page.evaluate(`location.hash = 'agent=${agent}'`);
  await until(async () => (await page.locator('#panel-name').innerText()) === agent);
  await page.locator('#panel-work data').first().waitFor();
  return numbersIn(page.locator('#panel'));
}

describe.skipIf(chromiumPath() === undefined)('the page', () => {
  it('shows the numbers of /metrics', async () => {
    const url = await serveQuietAgents('nixl');
    const samples = samplesOf(await scrape(url));
    const { page } = await openPage(url);
    expect(new Set(await rowsOf(page, 4))).toEqual(new Set(['busy-0', 'busy-1', 'busy-2', 'small']));
    for (const agent of ['busy-0', 'busy-1', 'busy-2', 'small']) {
      const labels = { agent_name: agent };
      const expected = Object.entries(SERIES).map(([label, series]) => [label, sumOf(samples, series, labels)]);
      expect(await panelOf(page, agent)).toMatchObject(Object.fromEntries(expected));
      // Buckets of the bars and of /metrics differ; the number of values does not.
      const count = (name: string, more = {}) => sumOf(samples, `${name}_count`, { ...labels, ...more });
      const bars = async (id: string) => sum(await countsIn(page.locator(`#panel-${id}`)));
      expect(await bars('times')).toBe(count('agent_xfer_time_us'));
      expect(await bars('posts')).toBe(count('agent_xfer_post_time_us'));
      expect(await bars('tx')).toBe(count('nixl_transfer_size', { direction: 'transmit' }));
      expect(await bars('rx')).toBe(count('nixl_transfer_size', { direction: 'receive' }));
      const statuses = new Set(samples.flatMap((sample) => sample.labels['status'] ?? []));
      const errors = [...statuses].map((status) => [
        status,
        sumOf(samples, 'agent_errors_total', { ...labels, status }),
      ]);
      expect(await countsIn(page.locator('#panel-errors'))).toEqual(
        Object.fromEntries(errors.filter(([, errors]) => (errors as number) > 0)),
      );
    }
    expect((await panelOf(page, 'small'))['Found full']).toBe(sumOf(samples, 'nixl_ring_full_total'));
    expect((await panelOf(page, 'busy-0'))['tx']).toBeGreaterThan(0);
    expect(await numbersIn(page.locator('#small-figures'))).toMatchObject({
      Requests: sumOf(samples, 'agent_tx_requests_num_total') + sumOf(samples, 'agent_rx_requests_num_total'),
      Errors: sumOf(samples, 'agent_errors_total'),
    });
  });

  it('shows the same in naming otel', async () => {
    const url = await serveQuietAgents('otel');
    const { page } = await openPage(url);
    const samples = samplesOf(await scrape(url));
    for (const agent of await rowsOf(page, 4)) {
      const of = (direction: string) => ({ nixl_agent_name: agent, nixl_transfer_direction: direction });
      expect(await panelOf(page, agent)).toMatchObject({
        tx: sumOf(samples, 'nixl_transfer_io_total', of('transmit')),
        rx: sumOf(samples, 'nixl_transfer_io_total', of('receive')),
      });
      expect(sum(await countsIn(page.locator('#panel-errors')))).toBe(
        sumOf(samples, 'nixl_errors_total', { nixl_agent_name: agent }),
      );
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
    const shown = async () => {
      const found: Record<string, unknown> = {};
      for (const { agent } of agents) {
        const { tx, rx, ...requests } = await panelOf(page, agent);
        const errors = sum(await countsIn(page.locator('#panel-errors')));
        const all = requests['tx requests']! + requests['rx requests']!;
        found[agent] = { txBytes: tx, rxBytes: rx, requests: all, errors };
      }
      return found;
    };
    await expect.poll(shown, { timeout: 60_000 }).toEqual(expected);
    const top = await run(['top', '--url', new URL('/', url).href, '--once', '--json']);
    const printed = JSON.parse(top.stdout) as { agents: { agent: string; totals: unknown }[] };
    expect(Object.fromEntries(printed.agents.map(({ agent, totals }) => [agent, totals]))).toEqual(expected);
  });

  it("shows rates that match an agent's transfers", async () => {
    const dir = temporaryDirectory();
    const serve = start(['serve', '--dir', dir, '--port', '0']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    // 200 transfers per second of 64 KiB, in one direction: 13.1 MB/s.
    startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '200', '--sizes', '64k:1', '--reads', '0']);
    const { page } = await openPage(url!);
    // A busy machine may delay several flushes.
    const near = (value: number, expected: number) => value > expected * 0.7 && value < expected * 1.3;
    await until(async () => near(Number(await cell(page, 'agent-0', 'requests')), 200));
    await until(async () => /^1\d\.\d\sMB$/.test(await cell(page, 'agent-0', 'tx')));
    expect(await cell(page, 'agent-0', 'rx')).toBe('0');
    await until(async () => /^1\d\.\d\sMB\/s$/.test(await page.locator('#big-throughput .value').innerText()));
    await until(async () => /tx\s*1\d\.\d\sMB\/s/.test(await page.locator('#throughput .legend').innerText()));
    await expect.poll(() => page.locator('#transfer-time .legend').innerText()).toMatch(/p50\s*[\d.]+\s[µm]?s/);
    // Read in one turn: an update changes all of them.
    const [parts, legend, times, timeLegend] = await page.evaluate<string[]>(
      `['#big-throughput .parts', '#throughput .legend', '#big-time .parts', '#transfer-time .legend']
        .map((place) => document.querySelector(place).innerText.replace(/\\s+/g, ''))`,
    );
    expect(legend).toBe(/^tx.*B\/srx(0|.*B\/s)(?=usual|$)/.exec(parts!)?.[0]);
    expect(timeLegend).toContain(/^p50.*sp90[\d.]+[µm]?s/.exec(times!)![0]);
  });
});
