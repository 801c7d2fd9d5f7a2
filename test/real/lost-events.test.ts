/** What a real agent loses at the default size of its ring, and what serve says of it. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scrape, start, temporaryDirectory, valueOf } from '../cli/command.js';
import { freePort } from '../support/free-port.js';
import { allDrained } from '../support/live.js';
import { NixlAgents } from './nixl-agents.js';
import { provideNixl } from './tools.js';

const DEFAULT_SLOTS = 4096;
const TRANSFERS = 100_000;
/** Those whose agents stage the events of a transfer together. */
const RELEASES = ['1.4.0', '1.5.1'];

const packages = await provideNixl();

describe.skipIf(packages === undefined)('a real agent without pauses', () => {
  it.each(RELEASES)('of NIXL %s: serve reports a loss, and never more than was lost', async (release) => {
    const directory = temporaryDirectory();
    const port = await freePort();
    const serve = start(['serve', '--dir', directory, '--port', String(port)]);
    await serve.says(/serves http/);
    const url = `http://127.0.0.1:${port}/metrics`;
    const progress = path.join(temporaryDirectory(), 'progress');
    const agents = await NixlAgents.start({
      packages: packages!.get(release)!,
      directory,
      progress,
      bufferSize: DEFAULT_SLOTS,
    });
    const of = (text: string, series: string): number => valueOf(text, series, 'agent_name="prefill"');
    agents.say(`flood ${TRANSFERS}`);
    await agents.answer();
    // Later transfers show that nothing is staged any more: they do not fill a flush.
    const before = of(await scrape(url), 'agent_xfer_time_us_count');
    agents.say('work 10');
    await agents.answer();
    await expect
      .poll(async () => of(await scrape(url), 'agent_xfer_time_us_count'), { timeout: 60_000 })
      .toBeGreaterThanOrEqual(before + 10);
    await allDrained(directory);
    const page = await scrape(url);
    const missing = TRANSFERS + 10 - of(page, 'agent_tx_requests_num_total');
    const [lost, dropped, full] = [
      'nixl_ring_lost_total',
      'agent_telemetry_events_dropped_total',
      'nixl_ring_full_total',
    ].map((series) => of(page, series)) as [number, number, number];
    console.info(
      `NIXL ${release}: ${missing} transfers missing, ${full} drains found the ring full, ${dropped} events reported, ${lost} counted as lost`,
    );
    expect(missing).toBeGreaterThan(0);
    expect(lost).toBeGreaterThan(0);
    expect(lost).toBeLessThanOrEqual(4 * missing);
    agents.say('finish');
    await agents.answer();
    expect(await agents.end()).toBe(0);
  });
});
