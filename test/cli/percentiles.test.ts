/** Percentiles of one ring, on every way to people: top --dir, top --url and the live page. */
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import type { AgentsAnswer } from '../../src/view/answers/answer.js';
import { percentilesOf } from '../../src/view/figures/percentiles.js';
import { Scraper } from '../../src/top/scraper.js';
import type { FleetView, SampleSource } from '../../src/top/tracker.js';
import { WatchedRings } from '../../src/top/watched-rings.js';
import { exponentialCount } from '../../src/ground/exponential.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { exactQuantile } from '../support/durations.js';
import { start, temporaryDirectory, until } from './command.js';

/** Events of each wire version: names in the first one, numbers in the others. */
const EVENTS = {
  1: { time: { category: 5, name: 'agent_xfer_time' }, post: { category: 5, name: 'agent_xfer_post_time' } },
  4: { time: { type: 6 }, post: { type: 7 } },
};

/** Microseconds from 1 to about 30,000, the same in every run: small copies, and a slow tail. */
const TIMES = Array.from({ length: 1500 }, (_, i) => (i % 3 === 0 ? 1 + (i % 9) : Math.round(40 * 1.0045 ** i)));
const POSTS = TIMES.map((_, i) => i % 4);

function topOn(source: SampleSource): () => Promise<FleetView> {
  onTestFinished(() => source.close());
  return () => source.view();
}

it.each([1, 4] as const)(
  'are the same on every way, and those of the transfers (wire version %d)',
  async (wireVersion) => {
    const dir = temporaryDirectory();
    const writer = new RingWriter(path.join(dir, 'agent'), { wireVersion, capacity: 65_536 });
    onTestFinished(() => writer.close());
    const serve = start(['serve', '--dir', dir, '--port', '0']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    const answer = async () => (await (await fetch(new URL('/api/v1/agents', url))).json()) as AgentsAnswer;
    await until(async () => (await answer()).agents.length === 1);

    const ways = [topOn(new WatchedRings([dir])), topOn(new Scraper({ name: 'serve', url: new URL(url!) }))];
    for (const way of ways) await way();
    let written = 0;
    const write = (): void => {
      for (const [i, value] of TIMES.entries()) {
        writer.push({ ...EVENTS[wireVersion].post, value: BigInt(POSTS[i]!) });
        writer.push({ ...EVENTS[wireVersion].time, value: BigInt(value) });
      }
      written += TIMES.length;
    };
    write();
    // The page shows the recent times, of which serve takes a sample each second.
    const { all, recent } = await until(async () => {
      const { agents, recentTransferTimeUs: recent } = await answer();
      const { transferTimesUs } = agents[0]!;
      if (exponentialCount(transferTimesUs) < written) return false;
      const all = percentilesOf(transferTimesUs);
      // After a second write the recent ones may be fewer.
      if (isDeepStrictEqual({ ...recent, count: all?.count }, all)) return { all: all!, recent: recent! };
      write(); // a sample during the writes divided them, or they are no longer recent
      return false;
    });

    const { p50, p90, p99, max } = recent;
    for (const way of ways) {
      const [row] = (await way()).rows;
      const { transferTimeUs, postTimeUs } = row!;
      expect(transferTimeUs).toMatchObject({ p50, p90, p99, max });
      // Small times are exact.
      expect(postTimeUs).toMatchObject({ p50: 1, p90: 3, p99: 3, max: 3 });
    }
    expect(all).toMatchObject({ p50, p90, p99, max });
    const shares = [0.5, 0.9, 0.99, 1].map((quantile) => exactQuantile(TIMES, quantile));
    for (const [i, found] of [p50, p90, p99, max].entries()) {
      expect(Math.abs(found - shares[i]!) / shares[i]!, `${found} for ${shares[i]}`).toBeLessThan(0.023);
    }
  },
);
