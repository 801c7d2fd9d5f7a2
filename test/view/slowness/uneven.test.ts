/** Directions and agents whose usual times differ a hundredfold, although neither ever changed. */
import { expect, test } from 'vitest';
import { isKeptUsual } from '../../../src/view/slowness/kept-usual.js';
import type { SlowFact } from '../../../src/view/slowness/slow-facts.js';
import { ACCEPT_MS, type JudgedAgent, SlownessJudge } from '../../../src/view/slowness/slowness-judge.js';
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
