import { describe, expect, it } from 'vitest';
import { Hosts } from '../../src/top/hosts.js';
import { noSizes } from '../../src/top/sizes.js';
import type { SampleSource, FleetView } from '../../src/top/tracker.js';
import type { Incident } from '../../src/view/incidents/incident.js';
import { sample, totals, viewsOf } from './samples.js';

const INCIDENT: Incident = {
  ...{ kind: 'failing', level: 'alarm', word: 'Transfers fail', sentence: 'a: 3 of 9', agents: ['a'], agentCount: 1 },
  ...{ beginMs: 1, saidMs: 2, endMs: 3 },
};

/** A source of these views. An error is thrown; `never` gives no answer. */
function source(...views: (FleetView | Error | 'never')[]): SampleSource {
  return {
    name: 'http://h/metrics',
    view: () => {
      const next = views.length > 1 ? views.shift()! : views[0]!;
      if (next === 'never') return new Promise(() => {});
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    details: (id) => Promise.resolve(totals(id, { path: `details of ${id}` })),
    pasts: () => Promise.resolve([]),
    sizes: (id) => Promise.resolve(noSizes(`none of ${id ?? 'all'}`)),
    incidents: () => Promise.resolve({ listed: [{ incident: INCIDENT, takenMs: 9 }], missing: [] }),
    doctorArguments: (id = 'all') => [['about', id]],
    noAgents: () => new Error(),
    close: () => {},
  };
}

const views = (...names: string[]): FleetView[] =>
  viewsOf(
    ...[0, 2_000].map((ms) =>
      sample(
        ms,
        names.map((name) => totals(name, { txBytes: ms })),
      ),
    ),
  );
const agents = ({ rows }: FleetView) => rows.map(({ agent: { agent, host, id } }) => [agent, host, id]);

describe('several hosts', () => {
  it('give their agents as one list, each with its host', async () => {
    const [first, second] = [views('a', 'b'), views('a')];
    const hosts = new Hosts([
      { name: 'g1:9464', source: source(...first) },
      { name: 'g2:9464', source: source(...second) },
    ]);
    await hosts.view();
    const view = await hosts.view();
    expect(agents(view)).toEqual([
      ['a', 'g1:9464', 'g1:9464 a'],
      ['b', 'g1:9464', 'g1:9464 b'],
      ['a', 'g2:9464', 'g2:9464 a'],
    ]);
    expect(view.rows.map(({ txBytesPerSecond }) => txBytesPerSecond)).toEqual([1_000, 1_000, 1_000]);
    expect(view).toMatchObject({ seconds: 2, parts: [{ host: 'g1:9464' }, { host: 'g2:9464' }] });
    expect(await hosts.details('g2:9464 a')).toMatchObject({ path: 'details of a' });
    expect((await hosts.sizes('g2:9464 a')).missing).toEqual(['none of a']);
    expect((await hosts.sizes()).missing).toEqual(['none of all', 'none of all']);
    const { listed } = await hosts.incidents();
    expect(listed.map(({ host, incident }) => [host, incident])).toEqual([
      ['g1:9464', INCIDENT],
      ['g2:9464', INCIDENT],
    ]);
  });

  it('show the others if one does not answer at all, with a note', async () => {
    const hosts = new Hosts([
      { name: 'down', source: source(new Error('no metrics from http://h/metrics: gone')) },
      { name: 'up', source: source(...views('a')) },
    ]);
    const view = await hosts.view();
    expect(agents(view)).toEqual([['a', 'up', 'up a']]);
    expect(view.notes).toEqual(['no metrics from http://h/metrics: gone']);
    expect(view.parts[0]).toMatchObject({ host: 'down', facts: { stale: { reason: 'gone', answered: false } } });
  });

  it('keep the numbers of a host that does not answer in time', async () => {
    const hosts = new Hosts([
      { name: 'slow', source: source(views('a')[1]!, 'never') },
      { name: 'up', source: source(...views('b')) },
    ]);
    await hosts.view();
    expect(agents(await hosts.view())).toEqual([
      ['a', 'slow', 'slow a'],
      ['b', 'up', 'up b'],
    ]);
  });

  it('give what each has recorded, by the clock of this machine', async () => {
    const values = { tx: 1, rx: 1, requests: 1, errors: 0, p50: 1, p90: 1, p99: 1, tooLow: 0 };
    const points = [{ fromMs: 500, toMs: 900, values }];
    const counts = { scale: 2, zeroCount: 0, offset: 0, counts: [1] };
    const times = [{ fromMs: 200, toMs: 700, counts }];
    const late = source(views('a')[0]!);
    const past = { takenMs: 1_000, fleet: points, transferTimes: times, agents: new Map([['a', points]]) };
    late.pasts = () => Promise.resolve([past]);
    const broken = source(views('b')[0]!);
    broken.pasts = () => Promise.reject(new Error('broken'));
    const before = Date.now();
    const pasts = await new Hosts([
      { name: 'late', source: late },
      { name: 'broken', source: broken },
    ]).pasts();
    const { takenMs } = pasts[0]!;
    expect(takenMs).toBeGreaterThanOrEqual(before);
    const moved = [{ fromMs: takenMs - 500, toMs: takenMs - 100, values }];
    const transferTimes = [{ fromMs: takenMs - 800, toMs: takenMs - 300, counts }];
    expect(pasts).toEqual([{ takenMs, fleet: moved, transferTimes, agents: new Map([['late a', moved]]) }]);
  });

  it('fail if none answers', async () => {
    const hosts = new Hosts([
      { name: 'x', source: source(new Error('no metrics from x')) },
      { name: 'y', source: source(new Error('no metrics from y')) },
    ]);
    await expect(hosts.view()).rejects.toThrow('no metrics from x');
  });
});
