/** The addresses that top --url asks, on real servers. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { API } from '../../src/view/answers/answer.js';
import { addressesOf, Scraper } from '../../src/top/scraper.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Serves answers by path; 404 for others. Breaks the connection of requests for `broken`. Records the requested paths. */
async function serve(answers: Readonly<Record<string, () => string>>, broken: readonly string[] = []) {
  const asked: string[] = [];
  const listener: RequestListener = ({ url = '' }, response) => {
    asked.push(url);
    const path = url.split('?')[0]!;
    if (broken.includes(path)) return void response.destroy();
    const answer = answers[path];
    response.writeHead(answer === undefined ? 404 : 200).end(answer?.() ?? 'Not found.');
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { asked, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

let takenMs = 1_700_000_000_000;
const noCounts = { scale: 4, zeroCount: 0, offset: 0, counts: [] };
const agent = {
  id: 7,
  agent: 'a',
  directory: '/d',
  name: 'a',
  life: 'alive',
  pid: 12,
  startTimeMs: 5,
  idleMs: 20,
  txBytes: 1,
  rxBytes: 2,
  txRequests: 3,
  rxRequests: 4,
  errors: [1, 0, 2],
  memoryBytes: 0,
  memoryApproximate: false,
  registeredBytes: 0,
  dropped: 5,
  lost: 7,
  foundFull: 1,
  capacity: 64,
  fill: 0.5,
  restarts: 0,
  suspect: false,
  transferTimesUs: { ...noCounts, offset: 25, counts: [9] },
  postTimesUs: noCounts,
};
const answer = { api: API, startedMs: 1, directories: ['/d'], errorStatuses: ['canceled', 'backend', 'unknown'] };
const json = (...agents: object[]) =>
  JSON.stringify({ ...answer, takenMs: takenMs++, agents, folded: 0, problems: [], problemCount: 0 });
const TEXT = 'agent_tx_bytes_total{agent_name="b"} 8\n';

function scraperOf(url: URL): Scraper {
  const scraper = new Scraper({ name: url.host, url });
  closing.push(() => scraper.close());
  return scraper;
}

const namesOf = async (scraper: Scraper) => (await scraper.sample()).agents.map((one) => one.agent);

describe('addresses', () => {
  it.each([
    ['http://h:9464', '/metrics', '/api/v1/agents?agents=all'],
    ['http://h:9464/', '/metrics', '/api/v1/agents?agents=all'],
    ['http://h/metrics', '/metrics', '/api/v1/agents?agents=all'],
    ['http://h/gpu7/metrics', '/gpu7/metrics', '/gpu7/api/v1/agents?agents=all'],
    ['http://h/metrics/', '/metrics/', '/api/v1/agents?agents=all'],
    // The prefix of a proxy.
    ['http://h/gpu7', '/gpu7', '/gpu7/api/v1/agents?agents=all'],
    ['http://h/gpu7/', '/gpu7/', '/gpu7/api/v1/agents?agents=all'],
    // The address of the JSON itself.
    ['http://h/api/v1/agents', '/metrics', '/api/v1/agents?agents=all'],
    ['http://h/gpu7/api/v1/agents', '/gpu7/metrics', '/gpu7/api/v1/agents?agents=all'],
    ['http://h/metrics?target=x', '/metrics?target=x', '/api/v1/agents?target=x&agents=all'],
  ])('of %s are %s and %s', (url, text, agents) => {
    const found = addressesOf(new URL(url));
    expect([found.text, found.agents].map(({ href }) => href.replace(/^http:\/\/[^/]+/, ''))).toEqual([text, agents]);
  });
});

describe('a scraper', () => {
  it('reads the JSON of a serve, and never its exposition', async () => {
    const { asked, url } = await serve({ '/api/v1/agents': () => json(agent, { ...agent, id: 8, name: '/d/a' }) });
    const scraper = scraperOf(url);
    const sample = await scraper.sample();
    expect(sample).toMatchObject({ notes: [], takenMs: takenMs - 1 });
    const one = { ...agent, errorStatuses: answer.errorStatuses, unused: false };
    expect(sample.agents).toEqual([
      { ...one, id: '1 7' },
      { ...one, id: '1 8', name: '/d/a', place: '/d' },
    ]);
    await scraper.sample();
    expect(asked).toEqual(Array(2).fill('/api/v1/agents?agents=all'));
  });

  it('passes on the troubles that serve sees, under its own ids; an earlier serve sees none', async () => {
    const trouble = { count: 1, sinceMs: 2, lastMs: 3, lastMinute: 1 };
    const answers = [json({ ...agent, troubles: { full: trouble } }), json(agent)];
    const { url } = await serve({ '/api/v1/agents': () => answers.shift()! });
    const scraper = scraperOf(url);
    expect(await scraper.sample()).toMatchObject({
      facts: { origin: { name: url.host }, ended: [] },
      agents: [{ id: '1 7', troubles: { full: trouble } }],
    });
    const earlier = await scraper.sample();
    expect([earlier.facts.ended, earlier.agents[0]!.troubles]).toEqual([undefined, undefined]);
  });

  it('asks for what else serve knows of an agent', async () => {
    const more = {
      path: '/d/a',
      ring: { readPos: 1, writePos: 4, pending: 3 },
      uid: 7,
      txSizes: noCounts,
      rxSizes: noCounts,
    };
    const { asked, url } = await serve({ '/api/v1/agents': () => json({ ...agent, ...more }) });
    const scraper = scraperOf(url);
    const { id } = (await scraper.sample()).agents[0]!;
    expect(await scraper.details(id)).toMatchObject({ ...more, foundFull: 1, restarts: 0, registeredBytes: 0 });
    expect(asked.at(-1)).toBe('/api/v1/agents?agent=7');
    expect(await scraper.details('1 8')).toBeUndefined();
  });

  it('asks a serve for time by size, of all agents or of one, and says if it is an earlier one', async () => {
    const direction = { classes: [], recent: [], model: { kind: 'none', reason: 'few-classes' }, endedInPost: 0 };
    const sizes = { api: API, startedMs: 1, recentMs: 61_000, agents: [{ id: 7, tx: direction, rx: direction }] };
    const answers = { '/api/v1/agents': () => json(agent), '/api/v1/sizes': () => JSON.stringify(sizes) };
    const { asked, url } = await serve(answers);
    const scraper = scraperOf(url);
    const { id } = (await scraper.sample()).agents[0]!;
    const found = await scraper.sizes();
    expect(asked.at(-1)).toBe('/api/v1/sizes?agents=all');
    expect(found).toMatchObject({ recentMs: 61_000, missing: [] });
    expect([...(await scraper.sizes(id)).agents.values()]).toEqual([{ tx: direction, rx: direction }]);
    expect(asked.at(-1)).toBe('/api/v1/sizes?agent=7');
    const earlier = scraperOf((await serve({ '/api/v1/agents': () => json(agent) })).url);
    await earlier.sample();
    const [reason] = (await earlier.sizes()).missing;
    expect(reason).toMatch(/^127\.0\.0\.1:\d+ has no time by size: it is no serve, an earlier one, or has --page off$/);
  });

  it('asks a serve for incidents, and says if it is an earlier one', async () => {
    const incident = { kind: 'failing', agents: ['a'] };
    const answer = { api: API, startedMs: 1, takenMs: 9, incidents: [incident] };
    const answers = { '/api/v1/agents': () => json(agent), '/api/v1/incidents': () => JSON.stringify(answer) };
    const { asked, url } = await serve(answers);
    const scraper = scraperOf(url);
    await scraper.sample();
    expect(await scraper.incidents()).toEqual({ listed: [{ incident, takenMs: 9 }], missing: [] });
    expect(asked.at(-1)).toBe('/api/v1/incidents');
    const earlier = scraperOf((await serve({ '/api/v1/agents': () => json(agent) })).url);
    await earlier.sample();
    expect((await earlier.incidents()).missing).toEqual([expect.stringContaining('has no incidents: it is no serve')]);
  });

  it('asks a serve for its history, beside the agents, and an exporter not at all', async () => {
    const history = { api: API, startedMs: 1, takenMs: 9, timesMs: [1, 2], fleet: { tx: [1, 5], errors: {} } };
    const columns = { id: 7, tx: [3], full: [0] };
    const text = JSON.stringify({
      ...history,
      fleet: { ...history.fleet, full: [0, 0], dropped: [0, 0] },
      transferTimesUs: { scale: 2, lowest: -1, timesMs: [1, 2], offsets: [0, 4], counts: [[1], [9]] },
      agentTimesMs: [2],
      agents: [columns],
    });
    const { asked, url } = await serve({ '/api/v1/agents': () => json(agent), '/api/v1/history': () => text });
    const scraper = scraperOf(url);
    expect(await scraper.pasts()).toEqual([]);
    await scraper.sample();
    expect(await scraper.pasts()).toMatchObject([
      {
        takenMs: 9,
        fleet: [{ fromMs: 1, toMs: 2, values: { tx: 5 } }],
        transferTimes: [{ fromMs: 1, toMs: 2, counts: { offset: 4, counts: [9] } }],
      },
    ]);
    expect(asked).toEqual(['/api/v1/agents?agents=all', '/api/v1/history?agents=all']);
    const earlier = scraperOf((await serve({ '/api/v1/agents': () => json(agent) })).url);
    await earlier.sample();
    expect(await earlier.pasts()).toEqual([]);
  });

  it('waits for a newer answer: serve gives the same one for half a second', async () => {
    const repeated = json(agent);
    const answers = [repeated, repeated, repeated];
    const { asked, url } = await serve({ '/api/v1/agents': () => answers.shift() ?? json(agent) });
    const scraper = scraperOf(url);
    const [first, second] = [await scraper.sample(), await scraper.sample()];
    expect(second.takenMs).toBeGreaterThan(first.takenMs);
    expect(asked).toHaveLength(4);
  });

  it.each([
    ['nothing', {}],
    ['a page', { '/api/v1/agents': () => '<html></html>' }],
    ['JSON of another server', { '/api/v1/agents': () => '{"api":"other/v1","agents":[],"takenMs":1}' }],
  ])('keeps to the exposition where it finds %s in place of its JSON', async (_, others) => {
    const { asked, url } = await serve({ ...others, '/metrics': () => TEXT });
    const scraper = scraperOf(url);
    expect([await namesOf(scraper), await namesOf(scraper)]).toEqual([['b'], ['b']]);
    expect(asked).toEqual(['/api/v1/agents?agents=all', '/metrics', '/metrics']);
  });

  it('keeps to the exposition if the connection for the JSON breaks', async () => {
    const { asked, url } = await serve({ '/metrics': () => TEXT }, ['/api/v1/agents']);
    const scraper = scraperOf(url);
    expect([await namesOf(scraper), await namesOf(scraper)]).toEqual([['b'], ['b']]);
    expect(asked).toEqual(['/api/v1/agents?agents=all', '/metrics', '/metrics']);
  });

  it('waits one sample for a serve that answered with JSON before, and then reads its exposition', async () => {
    const broken: string[] = [];
    const { url } = await serve({ '/metrics': () => TEXT, '/api/v1/agents': () => json(agent) }, broken);
    const scraper = scraperOf(url);
    const waits = { agents: [{ agent: 'a' }], notes: [expect.stringMatching(/^no metrics/)] };
    expect(await namesOf(scraper)).toEqual(['a']);
    broken.push('/api/v1/agents');
    expect(await scraper.sample()).toMatchObject(waits);
    broken.pop();
    expect(await namesOf(scraper)).toEqual(['a']);
    broken.push('/api/v1/agents');
    expect(await scraper.sample()).toMatchObject(waits);
    expect(await namesOf(scraper)).toEqual(['b']);
  });

  it('asks for both again after a failed request, and when the JSON is gone', async () => {
    const answers: Record<string, () => string> = { '/metrics': () => TEXT };
    const { url } = await serve(answers);
    const scraper = scraperOf(url);
    expect(await namesOf(scraper)).toEqual(['b']);
    delete answers['/metrics'];
    expect((await scraper.sample()).notes).toEqual([`no metrics from ${url.href}metrics: status 404`]);
    answers['/api/v1/agents'] = () => json(agent);
    expect(await namesOf(scraper)).toEqual(['a']);
    answers['/metrics'] = () => TEXT;
    delete answers['/api/v1/agents'];
    expect(await namesOf(scraper)).toEqual(['b']);
  });
});
