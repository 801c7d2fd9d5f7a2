import { beforeEach, describe, expect, it } from 'vitest';
import type { Incident } from '../../../src/view/incidents/incident.js';
import { HOLD_MS, IncidentLog } from '../../../src/view/incidents/incident-log.js';
import type { Finding, FindingKind } from '../../../src/view/verdict/types.js';

const NOW_MS = Date.UTC(2026, 10, 28, 2, 14, 0);
const STEP_MS = 5000;
const HOUR_MS = 3_600_000;

function finding(kind: FindingKind, names: readonly string[], about: Partial<Finding> = {}): Finding {
  const sentence = `${kind} of ${names.join(', ')}`;
  return { kind, tone: 'bad', shape: 'diamond', word: 'W', sentence, agents: names, names, ...about };
}

let log: IncidentLog;
let nowMs: number;
beforeEach(() => {
  log = new IncidentLog();
  nowMs = NOW_MS;
});

/** Takes samples of these findings for a time, and returns what changed. */
function during(ms: number, ...findings: readonly Finding[]): string[] {
  const changes: string[] = [];
  for (const endMs = nowMs + ms; nowMs < endMs; nowMs += STEP_MS) changes.push(...texts(log.take(nowMs, findings)));
  return changes;
}

function texts(changes: ReturnType<IncidentLog['take']>): string[] {
  return Object.entries(changes).flatMap(([change, incidents]: [string, readonly Incident[]]) =>
    incidents.map(({ kind, agents }) => [change, kind, ...agents].join(' ')),
  );
}

/** Kind, agents, and begin and end as minutes since the first sample. */
function kept(): string[] {
  const minutes = (ms: number | undefined): string =>
    ms === undefined ? '' : String(Math.round((ms - NOW_MS) / 6000) / 10);
  return log.incidents.map(({ kind, agents, beginMs, endMs }) =>
    [kind, ...agents, `${minutes(beginMs)}-${minutes(endMs)}`].join(' '),
  );
}

describe('begin and end', () => {
  it('keeps when a finding held, since when it was known, and tells each change once', () => {
    expect(during(60_000)).toEqual([]);
    const changes = during(120_000, finding('failing', ['a'], { sinceMs: NOW_MS + 30_000 }));
    expect(changes).toEqual(['begun failing a']);
    expect(log.incidents).toEqual([
      {
        ...{ kind: 'failing', level: 'alarm', word: 'W', sentence: 'failing of a', agents: ['a'], agentCount: 1 },
        ...{ beginMs: NOW_MS + 30_000, saidMs: NOW_MS + 60_000 },
      },
    ]);
    expect(during(10 * 60_000)).toEqual(['ended failing a']);
    expect(kept()).toEqual(['failing a 0.5-3']);
    expect(during(10 * 60_000)).toEqual([]);
  });

  it('has no incident of a verdict that finds nothing wrong', () => {
    during(60_000, ...(['none', 'measuring', 'well'] as const).map((kind) => finding(kind, [])));
    expect(kept()).toEqual([]);
  });

  it('is one incident if the finding is absent for less than the hold', () => {
    for (let i = 0; i < 5; i++) {
      during(STEP_MS, finding('failing', ['a']));
      during(HOLD_MS - 2 * STEP_MS);
    }
    expect(log.incidents).toHaveLength(1);
    during(2 * HOLD_MS);
    during(STEP_MS, finding('failing', ['a']));
    expect(log.incidents).toHaveLength(2);
  });

  it('makes few incidents of a finding that comes and goes all day', () => {
    const changes: string[] = [];
    for (let i = 0; i < 240; i++) {
      changes.push(...during(60_000, finding('incomplete', ['a'])), ...during(5 * 60_000));
    }
    expect(changes.length).toBeLessThan(10);
    expect(log.incidents.length).toBeLessThan(6);
  });

  it('keeps the higher level, and tells when a note becomes an alarm', () => {
    expect(during(60_000, finding('ended', ['a'], { tone: 'info' }))).toEqual(['begun ended a']);
    expect(log.incidents[0]!.level).toBe('note');
    expect(during(60_000, finding('ended', ['a'], { tone: 'warn' }))).toEqual(['raised ended a']);
    expect(during(60_000, finding('ended', ['a'], { tone: 'info' }))).toEqual([]);
    expect(log.incidents[0]!.level).toBe('alarm');
  });
});

describe('agents', () => {
  it('may join and leave an incident of their kind', () => {
    during(60_000, finding('failing', ['a']), finding('ended', ['a']));
    during(60_000, finding('failing', ['b', 'a']));
    during(60_000, finding('failing', ['b']));
    expect(kept()).toEqual(['ended a 0-1', 'failing a b 0-']);
  });

  it('are incidents of their own until one finding has them', () => {
    during(60_000, finding('incomplete', ['a']));
    during(60_000, finding('incomplete', ['a']), finding('incomplete', ['b']), finding('incomplete', []));
    expect(kept()).toEqual(['incomplete 1-', 'incomplete b 1-', 'incomplete a 0-']);
    expect(during(60_000, finding('incomplete', ['c', 'b', 'a']))).toEqual([]);
    expect(kept()).toEqual(['incomplete 1-2', 'incomplete a b c 0-']);
    const changes = during(60_000, finding('incomplete', ['a']), finding('incomplete', ['b']));
    expect(changes).toEqual(['ended incomplete']);
    expect(during(120_000)).toEqual(['ended incomplete a b c']);
    expect(kept()).toEqual(['incomplete 1-2', 'incomplete a b c 0-4']);
  });

  it('are named up to a limit, and counted beyond it', () => {
    const names = Array.from({ length: 300 }, (_, i) => `tp${i}`);
    during(60_000, finding('ended', names));
    const [incident] = log.incidents;
    expect(incident!.agents).toEqual(names.slice(0, 20));
    expect(incident!.agentCount).toBe(300);
    during(60_000, finding('ended', ['tp299']));
    expect(log.incidents).toHaveLength(1);
  });
});

describe('the worst', () => {
  it('is what the finding said at its highest size', () => {
    for (const value of [2, 12, 5]) {
      const size = { value, text: `${value} times slower` };
      during(STEP_MS, finding('slow-posts', ['a'], { size, sentence: size.text, cause: `${value}` }));
    }
    expect(log.incidents[0]).toMatchObject({
      ...{ peak: { value: 12, text: '12 times slower' }, sentence: '12 times slower', cause: '12' },
    });
  });

  it('is what the first of its findings said last, without a size', () => {
    for (const count of [1, 2]) {
      const sentence = `full ${count} times`;
      during(STEP_MS, finding('incomplete', ['a'], { sentence }), finding('incomplete', ['a'], { sentence: 'lost' }));
    }
    expect(log.incidents).toHaveLength(1);
    expect(log.incidents[0]!.sentence).toBe('full 2 times');
  });
});

describe('limits', () => {
  it('keeps an incident for a day after its end', () => {
    during(60_000, finding('failing', ['a']));
    during(24 * HOUR_MS);
    expect(kept()).toEqual(['failing a 0-1']);
    during(2 * 60_000);
    expect(kept()).toEqual([]);
  });

  it('forgets old notes first, and no alarm for a note', () => {
    during(STEP_MS, finding('failing', ['a']));
    const notes = Array.from({ length: 499 }, (_, i) => finding('ended', [`n${i}`], { tone: 'info' }));
    const further = finding('ended', ['further'], { tone: 'info' });
    during(2 * 60_000, ...notes);
    expect(during(60_000, ...notes, further)).toEqual([]);
    expect(kept().at(-1)).toBe('failing a 0-0.1');
    expect(during(60_000, ...notes, finding('failing', ['b']))).toEqual(['begun failing b']);
    expect(kept()).not.toContainEqual(expect.stringMatching(/^failing a/));
    during(2 * 60_000, further);
    expect(log.incidents).toHaveLength(500);
    expect(kept()[0]).toMatch(/^ended further/);
    expect(kept()).toContainEqual(expect.stringMatching(/^failing b/));
    expect(kept()).not.toContainEqual(expect.stringMatching(/^ended n0 /));
  });
});

describe('a clock that is set back', () => {
  it('corrects the times that it gave before', () => {
    during(60_000, finding('failing', ['old']));
    during(2 * 60_000);
    nowMs += 9 * HOUR_MS;
    during(2 * 60_000, finding('failing', ['a']));
    during(60_000, finding('receiver', []));
    nowMs -= 9 * HOUR_MS + STEP_MS; // the next sample is no step after the last one
    during(60_000, finding('receiver', []));
    expect(kept()).toEqual(['receiver 5-', 'failing a 3-5', 'failing old 0-1']);
    during(10 * 60_000);
    expect(kept()[0]).toBe('receiver 5-6.9');
  });
});

describe('another process', () => {
  function restarted(downMs: number): void {
    const { incidents } = log;
    const keptMs = nowMs - STEP_MS;
    nowMs += downMs;
    log = new IncidentLog();
    log.restore(incidents, keptMs, nowMs);
  }

  it('keeps incidents, and says which of them its end cut', () => {
    during(60_000, finding('ended', ['a']));
    during(3 * 60_000);
    during(60_000, finding('failing', ['a']));
    restarted(HOUR_MS);
    expect(during(60_000)).toEqual([]);
    const cutMs = NOW_MS + 5 * 60_000 - STEP_MS;
    expect(log.incidents).toMatchObject([
      { kind: 'failing', endMs: cutMs, untilServeEnded: true },
      { kind: 'ended', endMs: NOW_MS + 60_000 },
    ]);
    expect(log.incidents[1]).not.toHaveProperty('untilServeEnded');
    during(60_000, finding('failing', ['a']));
    expect(log.incidents).toHaveLength(3);
  });

  it('continues one whose finding is still there soon after', () => {
    during(60_000, finding('failing', ['a', 'b']));
    restarted(30_000);
    during(30_000);
    expect(log.incidents[0]!.untilServeEnded).toBe(true);
    expect(during(60_000, finding('failing', ['b']))).toEqual([]);
    expect(kept()).toEqual(['failing a b 0-']);
    expect(log.incidents[0]).not.toHaveProperty('untilServeEnded');
    expect(during(5 * 60_000)).toEqual(['ended failing a b']);
  });

  it('keeps the number of agents, and not all of their names', () => {
    const names = Array.from({ length: 300 }, (_, i) => `tp${i}`);
    during(60_000, finding('failing', names));
    restarted(30_000);
    expect(log.incidents).toMatchObject([{ agentCount: 300 }]);
    during(60_000, finding('failing', names));
    expect(log.incidents).toMatchObject([{ agentCount: 300 }]);
  });

  it('says nothing about those that ended with the process before', () => {
    during(60_000, finding('failing', ['a']));
    restarted(30_000);
    expect(during(5 * 60_000)).toEqual([]);
    expect(log.incidents).toMatchObject([{ untilServeEnded: true }]);
  });
});
