import { expect, it } from 'vitest';
import type { SlowClass, SlowFact } from '../../../src/view/slowness/slow-facts.js';
import { levelOf } from '../../../src/view/verdict/shapes.js';
import { verdictOf } from '../../../src/view/verdict/verdict.js';
import { agentModel } from '../../support/agent-models.js';

const NOW_MS = Date.UTC(2026, 10, 28, 12, 0, 0);

/** Times of the sizes, with their usual ones; slow from twice as long on. */
function classes(...times: readonly (readonly [kib: number, timeUs: number, usualUs: number])[]): SlowClass[] {
  return times.map(([kib, timeUs, usualUs]) => ({
    ...{ upToBytes: 1024 * kib, meanBytes: 1024 * kib, timeUs, usualUs },
    slow: timeUs >= 2 * usualUs,
  }));
}

function fact(name: string, about: Partial<SlowFact>): SlowFact {
  const times = { sinceMs: NOW_MS - 60_000, saidMs: NOW_MS - 40_000 };
  return { kind: 'slow-transfers', id: name, name, direction: 'receive', factor: 10, classes: [], ...times, ...about };
}

function verdict(...slowness: readonly SlowFact[]) {
  const agents = slowness.map(({ name }) => agentModel(name, { idleMs: 10, troubles: {} }));
  const origin = { kind: 'serve', name: 'host', directories: [] } as const;
  return verdictOf({ origin, takenMs: NOW_MS, observedSinceMs: 0, agents, slowness });
}

/** Returns level, word and sentence of each finding, with plain blanks and without times of day. */
function said(...slowness: readonly SlowFact[]): string[] {
  return verdict(...slowness).findings.map((finding) => {
    const text = `${levelOf(finding)} ${finding.word}: ${finding.sentence}`;
    return text.replaceAll('\u00a0', ' ').replace(/ (since|at) [\d:]+/, ' $1 TIME');
  });
}

const LINK = classes([4, 25, 18], [64, 142, 21], [1024, 2005, 70], [8192, 16_000, 420]);
const FROM_SIZE = classes([4, 18, 18], [64, 22, 21], [1024, 1100, 70], [8192, 8400, 420]);

it.each<readonly [string, Partial<SlowFact>, string]>([
  [
    'the link',
    { classes: LINK },
    'The time grows with the bytes, at 525 MB/s, before 20.9 GB/s: 8 MiB takes 16.0 ms, usually 420 µs',
  ],
  [
    'from a size on',
    { classes: FROM_SIZE },
    'From 1 MiB up: 8 MiB takes 8.40 ms, usually 420 µs. Smaller ones are as fast as usual',
  ],
  [
    'a size alone',
    { classes: classes([16, 1900, 19], [1024, 102, 101]) },
    'Only at 16 KiB: 16 KiB takes 1.90 ms, usually 19 µs',
  ],
  [
    'one size',
    { classes: classes([1024, 1010, 101]), ambiguous: true },
    '1 MiB takes 1.01 ms, usually 101 µs. One size cannot tell a slow link from late asking',
  ],
])('says that the cause is %s', (_, about, why) => {
  expect(said(fact('tp3', about))).toEqual([
    `alarm Transfers slow: tp3: transfers (rx) take 10 times as long as usual since TIME. ${why}`,
  ]);
});

it('says how much of the time is posting', () => {
  const posted = classes([8192, 534, 38]).map((one) => ({ ...one, postUs: 496, usualPostUs: 3 }));
  expect(said(fact('slow-post', { kind: 'slow-posts', factor: 165, classes: posted }))).toEqual([
    'alarm Posts slow: slow-post: posts (rx) take 165 times as long as usual since TIME. At 8 MiB, 496 µs of 534 µs is posting, usually 3 µs',
  ]);
});

it('says whom an agent without a past is compared with, and that the other direction is as usual', () => {
  const [text] = said(fact('n0', { classes: LINK, againstOthers: true, oneDirection: true }));
  expect(text).toContain('take 10 times as long as earlier agents of this host took (tx is as usual)');
});

it('joins agents of one cause and direction, the slowest first', () => {
  const [text, ...others] = said(
    fact('a', { classes: LINK }),
    fact('b', { classes: LINK, factor: 40 }),
    fact('c', { classes: FROM_SIZE }),
  );
  expect(text).toMatch(/^alarm Transfers slow: 2 agents \(b and a\): transfers \(rx\) take 40 times/);
  expect(others).toHaveLength(1);
});

it('says what is no alarm as a note: late asking, load, and a slow first transfer', () => {
  const notes: readonly [SlowFact['kind'], string][] = [
    ['late-completion', 'Completed late'],
    ['busy', 'Busy'],
    ['cold-start', 'Cold start'],
  ];
  for (const [kind, word] of notes) {
    const { first, findings } = verdict(fact('a', { kind, classes: LINK }));
    expect(findings.map((finding) => [levelOf(finding), finding.word])).toEqual([['note', word]]);
    expect(first.kind).toBe('well');
  }
  expect(said(fact('a', { kind: 'cold-start', factor: 3000, classes: LINK }))[0]).toContain(
    'a first transfer (rx) took 3,000 times as long as later ones at TIME. 8 MiB took 16.0 ms; later ones take 420 µs',
  );
  expect(said(fact('a', { kind: 'late-completion', classes: classes([1024, 900, 90]) }))[0]).toContain(
    'One size cannot tell late asking from a slower link',
  );
});

it('an agent with an alarm is slow, one with a note is not', () => {
  const { states, counts } = verdict(fact('a', { classes: LINK }), fact('b', { kind: 'busy', classes: LINK }));
  expect(states.get('a')).toEqual({ state: 'slow', sinceMs: NOW_MS - 60_000 });
  expect(states.get('b')).toEqual({ state: 'live' });
  expect(counts).toMatchObject({ slow: 1, live: 1 });
});

it('says for how many agents nothing is usual yet', () => {
  const agents = [agentModel('a', { idleMs: 10, troubles: {} })];
  const origin = { kind: 'serve', name: 'host', directories: [] } as const;
  const { first } = verdictOf({ origin, takenMs: NOW_MS, observedSinceMs: 0, agents, unjudged: 1 });
  expect(first.sentence).toMatch(/in the last minute; no reference yet for the speed of 1\sagent$/);
});
