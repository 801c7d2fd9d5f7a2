/**
 * Attacks on the built serve by clients without credentials, from a process of their own: meanwhile a scraper is answered, and
 * the memory stays near that of an idle serve. Afterwards: stalled-clients.test.ts.
 */
import { expect, it } from 'vitest';
import { EVENTS } from '../../src/mapping/index.js';
import {
  attack,
  metrics,
  MOST_GROWTH_KB,
  plainServe,
  requests,
  scrapes,
  secureServe,
  type Served,
} from '../security/attack.js';

/** Slowdown of a scrape that an attack may cause: a page of 20 ms in a second. */
const MOST_SLOWDOWN = 50;

const HISTORY = '/api/v1/history?agents=all';
const history = () => HISTORY;
/** Nearly all of a page, each time without another event. */
const parts = (i: number) => {
  const names = EVENTS.filter(({ type }) => type !== i).flatMap(({ event }) => [event, `${event}_total`]);
  return `/metrics?${names.map((name) => `name[]=${name}`).join('&')}`;
};
const GZIP = 'accept-encoding: gzip\r\n';

it.each<[string, () => Promise<Served>, number, string]>([
  ['thousands of requests on a hundred connections', plainServe, 100, requests(1000, history)],
  ['the same over TLS', secureServe, 100, requests(1000, history)],
  ['thousands of different questions', plainServe, 100, requests(1000, (i) => `${HISTORY}&from=${i}`)],
  ['large pages', plainServe, 120, requests(18, metrics)],
  ['large pages over TLS', secureServe, 120, requests(18, metrics)],
  ['large packed pages', plainServe, 120, requests(18, metrics, GZIP)],
  ['different parts of large pages', plainServe, 120, requests(18, parts)],
])(
  '%s, of which no answer is read, neither stop a scraper nor fill the memory',
  async (_, serve, connections, text) => {
    const served = await serve();
    const idle = await scrapes(served);
    const attacker = attack(served, connections, text);
    const under = await scrapes(served);
    await attacker.says(/^sent$/m);
    const after = await scrapes(served);
    const growthKb = Math.max(under.mostKb, after.mostKb) - idle.mostKb;
    const slowdown = Math.max(under.medianMs, after.medianMs) / idle.medianMs;
    expect(growthKb).toBeLessThan(MOST_GROWTH_KB);
    expect(slowdown).toBeLessThan(MOST_SLOWDOWN);
  },
);
