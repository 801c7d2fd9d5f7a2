/** Verdicts on views: from rings, from an exposition, and from what serve says itself. */
import { describe, expect, it } from 'vitest';
import type { Facts, TopAgent } from '../../../src/top/sampler.js';
import { Judge } from '../../../src/top/screen/judge.js';
import type { FleetView } from '../../../src/top/tracker.js';
import { failed } from '../../support/agent-models.js';
import { RINGS, sample, totals, viewsOf } from '../samples.js';
import { AT, SERVE } from './scenes.js';

/** The verdict after views a second apart, of agents by second. */
function verdictAfter(count: number, agentsAt: (second: number) => TopAgent[], facts: Facts = SERVE) {
  const judge = new Judge();
  const samples = Array.from({ length: count }, (_, i) => sample(AT + i * 1_000, agentsAt(i), [], facts));
  return viewsOf(...samples)
    .map((view) => judge.judge(view))
    .at(-1)!;
}

const kinds = ({ findings }: ReturnType<typeof verdictAfter>) => findings.map(({ kind }) => kind);

describe('a verdict', () => {
  it('is that all is well', () => {
    const verdict = verdictAfter(3, () => [totals('a'), totals('old', { unused: true })]);
    expect(verdict.first).toMatchObject({ kind: 'well', word: 'All well' });
    expect(verdict.counts).toMatchObject({ live: 1, idle: 0 });
    expect(verdict.states.has('old')).toBe(false);
  });

  it('names agents whose counts grow: full rings, dropped events, errors by status', () => {
    const verdict = verdictAfter(5, (second) => [
      totals('full', { foundFull: second }),
      totals('drops', { lost: 3 * second }),
      totals('fails', failed({ canceled: second })),
      totals('earlier', { foundFull: 9, lost: 4, ...failed({ backend: 2 }) }),
    ]);
    const states = [...verdict.states].map(([id, { state }]) => [id, state]);
    expect(states).toEqual([
      ['full', 'incomplete'],
      ['drops', 'incomplete'],
      ['fails', 'failing'],
      ['earlier', 'live'],
    ]);
    expect(verdict.findings.find(({ kind }) => kind === 'failing')).toMatchObject({
      agents: ['fails'],
      sentence: expect.stringContaining('canceled') as string,
    });
  });

  it('counts all that a ring was seen to lack: its observation began with 0', () => {
    const seen = () => [totals('ring', { undrained: 1, lapped: 0 })];
    expect(kinds(verdictAfter(1, seen, RINGS))).toEqual(['incomplete']);
    expect(kinds(verdictAfter(1, seen, SERVE))).toEqual([]);
  });

  it('says when an agent ended', () => {
    const verdict = verdictAfter(5, (second) => [
      totals('a', {
        life: second < 3 ? 'alive' : 'dead',
        txRequests: 10 * Math.min(second, 3),
        memoryBytes: 5,
        memoryApproximate: false,
      }),
    ]);
    expect(verdict.states.get('a')).toEqual({ state: 'ended', sinceMs: AT + 3_000 });
    expect(kinds(verdict)).toEqual(['ended']);
  });

  it('takes what serve says of its agents in place of its own view', () => {
    const trouble = { count: 7, sinceMs: AT, lastMs: AT, lastMinute: 7 };
    const failingExporters = [{ name: 'otlp', failingSinceMs: AT, reason: 'connect ECONNREFUSED' }];
    const verdict = verdictAfter(1, () => [totals('a', { troubles: { full: trouble } })], {
      ...SERVE,
      failingExporters,
    });
    expect(kinds(verdict)).toEqual(['incomplete', 'receiver']);
    expect(verdict.states.get('a')?.state).toBe('incomplete');
  });

  it('begins with directories that cannot be read if there are no agents', () => {
    const complaints = ['/x cannot be read: EACCES'];
    expect(kinds(verdictAfter(1, () => [], { ...RINGS, complaints }))).toEqual(['problem', 'none']);
    expect(verdictAfter(1, () => [totals('a')], { ...RINGS, complaints }).first.sentence).toBe(complaints[0]);
  });
});

describe('a verdict on several hosts', () => {
  const of = (host: string, facts: Facts, ...agents: TopAgent[]): FleetView => {
    const [view] = viewsOf(
      sample(
        AT,
        agents.map((agent) => ({ ...agent, host })),
        [],
        facts,
      ),
    );
    return { ...view!, parts: [{ host, facts }] };
  };
  const joined = (...views: FleetView[]): FleetView => ({
    ...views[0]!,
    rows: views.flatMap(({ rows }) => rows),
    parts: views.flatMap(({ parts }) => parts),
  });
  const serve = (name: string, more: Partial<Facts> = {}): Facts => {
    return { origin: { kind: 'serve', name, directories: [] }, ...more };
  };

  it('joins them, and begins with those that do not answer', () => {
    const stale = { forMs: 5_000, reason: 'ECONNREFUSED' };
    const view = joined(
      of('g1', serve('g1'), totals('a'), totals('b')),
      of('g2', serve('g2', { stale }), totals('c')),
      of('g3', serve('g3', { problems: [{ path: '/r/x', state: 'corrupt', reason: 'too short' }], problemCount: 1 })),
    );
    const verdict = new Judge().judge(view);
    expect(verdict.counts.live).toBe(3);
    expect(kinds(verdict)).toEqual(['stale', 'problem']);
    expect(verdict.first.sentence).toContain('g2');
  });
});
