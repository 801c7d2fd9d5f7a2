import { describe, expect, it } from 'vitest';
import type { Past } from '../../../src/top/points.js';
import { Gathering } from '../../../src/top/screen/scene.js';
import { sample, totals, viewsOf } from '../samples.js';
import { AT, SERVE } from './scenes.js';

const STALE = { ...SERVE, stale: { forMs: 2_000 } };

function past(fromMs: number, toMs: number, tx: number): Past {
  const values = { tx, rx: 0, requests: 0, errors: 0, p50: 7, p90: 8, p99: 9, tooLow: 0 };
  const points = [{ fromMs, toMs, values }];
  return { takenMs: toMs, fleet: points, transferTimes: [], agents: new Map([['a', points]]) };
}

describe('the graphs of a picture', () => {
  it('are to be filled when a host answers for the first time, and when it is back', () => {
    const gathering = new Gathering();
    const facts = [SERVE, SERVE, STALE, STALE, SERVE, SERVE];
    const views = viewsOf(...facts.map((one, second) => sample(AT + second * 1_000, [totals('a')], [], one)));
    expect(views.map((view) => gathering.add(view))).toEqual([true, false, false, false, true, false]);
    const two = viewsOf(sample(AT + 9_000, [totals('a')]))[0]!;
    const parts = [
      { host: 'x', facts: SERVE },
      { host: 'y', facts: STALE },
    ];
    const hosts = new Gathering();
    expect(hosts.add({ ...two, parts })).toBe(true);
    expect(hosts.add({ ...two, parts })).toBe(false);
    expect(hosts.add({ ...two, parts: parts.map(({ host }) => ({ host, facts: SERVE })) })).toBe(true);
  });

  it('have what was recorded before the first sample, of the fleet and of each agent', () => {
    const gathering = new Gathering();
    gathering.fill([past(AT - 5_000, AT, 3)]);
    const views = viewsOf(...[0, 1].map((second) => sample(AT + second * 1_000, [totals('a', { txBytes: second })])));
    gathering.add(views[0]!);
    gathering.fill([past(AT - 3_000, AT + 500, 3)]);
    gathering.add(views[1]!);
    const { fleet, agents } = gathering.picture!;
    for (const history of [fleet, agents.get('a')!]) {
      expect([...history.parts(['tx'], AT + 1_000, 5_000, 5)]).toEqual([NaN, 3, 3, 3, 1]);
      expect([...history.parts(['p99'], AT + 1_000, 2_000, 2)]).toEqual([9, NaN]);
    }
  });
});
