/** Directions and agents whose usual times differ a hundredfold, although neither ever changed. */
import { expect, test } from 'vitest';
import { isKeptUsual } from '../../../src/view/slowness/kept-usual.js';
import type { SlowFact } from '../../../src/view/slowness/slow-facts.js';
import { ACCEPT_MS, type JudgedAgent, SlownessJudge } from '../../../src/view/slowness/slowness-judge.js';
import { UnevenWatch, type UsualOfAgent } from '../../../src/view/slowness/uneven.js';
import type { Usual } from '../../../src/view/slowness/usual-times.js';
import type { AgentModel } from '../../../src/view/model/agent-model.js';
import type { Way } from '../../../src/way/way.js';
import { verdictOf } from '../../../src/view/verdict/verdict.js';
import { agentModel } from '../../support/agent-models.js';
import { SizedProgram, type Speed, STEP_MS } from '../../support/sized-program.js';

const BEGIN_MS = Date.UTC(2026, 10, 28, 12, 0, 0);
const LATER_MS = BEGIN_MS + 200_000;
const SLOW: Speed = { bytesPerUs: 100 };

interface Program {
  readonly name: string;
  readonly rx?: Speed;
  readonly tx?: Speed;
  readonly group?: string;
}

/** Lets the programs move from `beginMs` to `endMs`, and judges them. */
function moved(judge: SlownessJudge, programs: readonly Program[], beginMs: number, endMs: number): void {
  const running = programs.map((program) => ({
    ...program,
    receive: new SizedProgram(),
    transmit: new SizedProgram(),
  }));
  for (let ms = beginMs; ms <= endMs; ms += STEP_MS) {
    judge.take(
      ms,
      running.map(({ name, group, receive, transmit }, id): JudgedAgent => {
        const timeBySize = { receive: receive.timeBySize.receive, transmit: transmit.timeBySize.receive };
        return { id, name, place: `/${name}`, group, timeBySize };
      }),
    );
    for (const { rx, tx, receive, transmit } of running) {
      if (rx !== undefined) receive.step(rx);
      if (tx !== undefined) transmit.step(tx);
    }
  }
}

function factsOf(programs: readonly Program[], judge = new SlownessJudge()): readonly SlowFact[] {
  moved(judge, programs, BEGIN_MS, BEGIN_MS + 120_000);
  return judge.facts;
}

test('sets a direction beside the other one, and says what is not known', () => {
  const slownessJudge = new SlownessJudge();
  const slowness = factsOf([{ name: 'a', rx: SLOW, tx: {} }], slownessJudge);
  expect(slowness).toMatchObject([
    { kind: 'uneven', name: 'a', direction: 'receive', against: { name: 'a', direction: 'transmit' } },
  ]);
  const agents = [{ ...agentModel('a', { idleMs: 10, troubles: {} }), id: 0 }];
  const origin = { kind: 'serve', name: 'host', directories: [] } as const;
  const { first } = verdictOf({ origin, takenMs: BEGIN_MS + 120_000, observedSinceMs: 0, agents, slowness });
  expect(first).toMatchObject({ kind: 'uneven', tone: 'info', word: 'Uneven', agents: [0] });
  expect(first.sentence).toMatch(
    /^a: rx takes 11\d times as long as its tx \(seen since [\d:]+\)\. 4 MiB takes 4\d\.\d ms, there 3\d\d µs$/,
  );
});

test('sets an agent beside the fastest one of its group, in the other direction if it moves in one only', () => {
  const [slow, fast] = [
    { name: 'tp1', rx: SLOW },
    { name: 'tp0', rx: {} },
  ] as const;
  const facts = factsOf([
    { ...slow, group: '7' },
    { ...fast, group: '7' },
    { name: 'tp2', rx: {}, group: '7' },
  ]);
  expect(facts).toMatchObject([{ kind: 'uneven', name: 'tp1', against: { direction: 'receive' } }]);
  expect(facts[0]!.against!.name).toMatch(/^tp[02]$/);
  expect(
    factsOf([
      { ...slow, group: '7' },
      { ...fast, group: '8' },
    ]),
  ).toEqual([]);
  expect(factsOf([{ ...slow, group: '7' }, fast])).toEqual([]);
  expect(factsOf([slow, { name: 'writes', tx: {} }])).toMatchObject([
    { name: 'tp1', direction: 'receive', against: { name: 'writes', direction: 'transmit' } },
  ]);
});

test('finds nothing below a factor of 100', () => {
  expect(factsOf([{ name: 'a', rx: { bytesPerUs: 150 }, tx: {} }])).toEqual([]);
});

test('ends once an operator accepts it, also over a restart of serve, and after a day', () => {
  const judge = new SlownessJudge();
  const programs = [{ name: 'a', rx: SLOW, tx: {} }];
  expect(factsOf(programs, judge)).toHaveLength(1);
  const kept: unknown = JSON.parse(JSON.stringify(judge.usual));
  judge.accept([0]);
  expect(judge.facts).toEqual([]);
  const accepted: unknown = JSON.parse(JSON.stringify(judge.usual));

  const after = (before: unknown, beginMs: number): readonly SlowFact[] => {
    const next = new SlownessJudge();
    if (!isKeptUsual(before as object)) throw new Error('not kept');
    next.restore(before as never);
    moved(next, programs, beginMs, beginMs + 60_000);
    return next.facts;
  };
  expect(after(accepted, LATER_MS)).toEqual([]);
  expect(after(kept, LATER_MS)).toMatchObject([{ kind: 'uneven', sinceMs: expect.any(Number) as number }]);
  expect(after(kept, LATER_MS)[0]!.sinceMs).toBeLessThan(BEGIN_MS + 120_000);
  expect(after(kept, LATER_MS + ACCEPT_MS)).toEqual([]);
});

test('is no question where a slow direction was accepted, also after the next restart', () => {
  const judge = new SlownessJudge();
  const [receive, transmit] = [new SizedProgram(), new SizedProgram()];
  let ms = BEGIN_MS;
  const run = (by: SlownessJudge, steps: number, rx: Speed): void => {
    for (let i = 0; i < steps; i++, ms += STEP_MS) {
      const timeBySize = { receive: receive.timeBySize.receive, transmit: transmit.timeBySize.receive };
      by.take(ms, [{ id: 0, name: 'a', place: '/a', timeBySize }]);
      receive.step(rx);
      transmit.step();
    }
  };
  run(judge, 75, {});
  run(judge, 15, SLOW);
  expect(judge.facts.map(({ kind }) => kind)).toEqual(['slow-transfers']);
  judge.accept([0]);
  run(judge, 60, SLOW);
  expect(judge.facts).toEqual([]);
  const next = new SlownessJudge();
  next.restore(JSON.parse(JSON.stringify(judge.usual)) as never);
  run(next, 60, SLOW);
  expect(next.facts).toEqual([]);
});

test('does not depend on the order of the agents, and outlives a rank that is away', () => {
  const [few, fast, slow] = [
    { name: 'few', rx: { bytesPerUs: 9 } },
    { name: 'fast', rx: {} },
    { name: 'slow', rx: SLOW },
  ];
  for (const agents of [
    [few, fast, slow],
    [slow, fast, few],
    [fast, slow, few],
  ]) {
    expect(
      factsOf(agents)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['few', 'slow']);
  }
  const watch = new UnevenWatch();
  const usual = (p50: number): Usual => {
    const of = { upToBytes: 4096, blocks: 9, transfers: 900, meanBytes: 4096, p10: p50, p50, p90: p50 };
    return { blocks: 9, bytesPerSecond: 1, flushSize: 1, classes: [of] };
  };
  const none: Usual = { blocks: 0, bytesPerSecond: 0, flushSize: 0, classes: [] };
  const agent = (id: number, p50: number): UsualOfAgent => {
    return { id, name: `tp${id}`, place: `/${id}`, transmit: usual(p50), receive: none, accepted: [] };
  };
  const both = [agent(0, 50), agent(1, 5000)];
  expect(watch.take(BEGIN_MS, ACCEPT_MS, both)).toMatchObject([{ name: 'tp1', against: { id: 0 } }]);
  watch.accept('/1', 'transmit');
  expect(watch.take(BEGIN_MS + 1, ACCEPT_MS, [both[1]!])).toEqual([]);
  expect(watch.take(BEGIN_MS + 2, ACCEPT_MS, both)).toEqual([]);
});

test('stands after alarms, and is nothing where the bytes go different ways', () => {
  const slowness = factsOf([{ name: 'a', rx: SLOW, tx: {} }]);
  const [tx, rx] = (['rdma', 'storage'] as const).map((kind): Way => {
    return { kind, ports: [], windows: 9, sure: 'certain', sinceMs: 0 };
  });
  const kindsWith = (about: Partial<AgentModel<string>>): string[] => {
    const agents = [{ ...agentModel('a', { idleMs: 10, troubles: {}, ...about }), id: 0 }];
    const origin = { kind: 'serve', name: 'host', directories: [] } as const;
    const failing = [{ name: 'otlp', failingSinceMs: 0, reason: 'refused' }];
    const given = { origin, takenMs: BEGIN_MS + 120_000, observedSinceMs: 0, agents, slowness };
    return verdictOf({ ...given, failingExporters: failing }).findings.map(({ kind }) => kind);
  };
  expect(kindsWith({})).toEqual(['receiver', 'uneven']);
  expect(kindsWith({ way: { tx: tx!, rx: rx! } })).toEqual(['receiver']);
  expect(kindsWith({ way: { tx: tx!, rx: tx! } })).toEqual(['receiver', 'uneven']);
});

test('is not read from a damaged file', () => {
  const kept = (unevenSince: unknown): object => {
    return { curves: { transmit: [], receive: [] }, agents: [{ place: '/a', unevenSince }] };
  };
  expect([{}, { receive: 0 }, { transmit: 5 }].map((since) => isKeptUsual(kept(since)))).toEqual([true, true, true]);
  expect([null, 5, { transmit: 'x' }, { receive: -1 }].map((since) => isKeptUsual(kept(since)))).toEqual(
    new Array(4).fill(false),
  );
});
