import { describe, expect, it } from 'vitest';
import { timeOfDay } from '../../../src/ground/figures/clock.js';
import { SUCCESSOR_MS } from '../../../src/view/verdict/succession.js';
import { levelOf, SHAPES, STATES } from '../../../src/view/verdict/shapes.js';
import type { AgentModel, Trouble, Troubles } from '../../../src/view/model/agent-model.js';
import type { VerdictInput } from '../../../src/view/verdict/types.js';
import { stateOf, verdictOf } from '../../../src/view/verdict/verdict.js';
import { agentModel } from '../../support/agent-models.js';

const IDLE_AFTER_MS = 180_000;
const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
const SINCE_MS = NOW_MS - 30_000;
const SINCE = timeOfDay(SINCE_MS);

function agent(name: string, about: Partial<AgentModel<string>> = {}): AgentModel {
  return agentModel(name, { idleMs: 10, capacity: 4096, troubles: {}, ...about });
}

function trouble(count: number, about: Partial<Trouble> = {}): Trouble {
  return { count, sinceMs: SINCE_MS, lastMs: NOW_MS, lastMinute: count, ...about };
}

function errors(count: number, ...statuses: readonly [string, number][]): Troubles {
  return { errors: { ...trouble(count), statuses } };
}

function input(agents: readonly AgentModel[], about: Partial<VerdictInput> = {}): VerdictInput {
  return {
    origin: { kind: 'serve', name: 'gpu-17:9464', directories: ['/dev/shm/nixl'] },
    takenMs: NOW_MS,
    observedSinceMs: 0,
    agents,
    ...about,
  };
}

/** Returns word, sentence and advice of each finding, with plain blanks. */
function texts(given: VerdictInput): string[] {
  const { findings, first } = verdictOf(given);
  const shown = findings.length === 0 ? [first] : findings;
  return shown.map(({ word, sentence, advice }) =>
    [`${word}: ${sentence}.`, ...(advice === undefined ? [] : [advice])].join(' '),
  );
}

describe('states', () => {
  it.each([
    ['live', agent('a', { idleMs: IDLE_AFTER_MS - 1 }), undefined],
    ['live', agent('a', { idleMs: IDLE_AFTER_MS, flushIntervalMs: 90_000 }), undefined],
    ['idle', agent('a', { idleMs: 270_000, flushIntervalMs: 90_000 }), NOW_MS - 270_000],
    ['unknown', agent('a', { life: 'unknown' }), undefined],
    ['unknown', agent('a', { life: 'unknown', idleMs: IDLE_AFTER_MS }), undefined],
    ['failing', agent('a', { life: 'unknown', troubles: errors(1) }), SINCE_MS],
    ['idle', agent('a', { idleMs: IDLE_AFTER_MS }), NOW_MS - IDLE_AFTER_MS],
    ['ended', agent('a', { life: 'dead', endedMs: 5, troubles: { full: trouble(1) } }), 5],
    ['incomplete', agent('a', { troubles: { full: trouble(1), ...errors(1) } }), SINCE_MS],
    ['failing', agent('a', { idleMs: IDLE_AFTER_MS, troubles: errors(1) }), SINCE_MS],
  ] as const)('%s', (state, facts, sinceMs) => {
    expect(stateOf(facts, NOW_MS)).toEqual({ state, ...(sinceMs === undefined ? {} : { sinceMs }) });
  });

  it('has a shape and a word for each, and two glyphs for each shape', () => {
    expect(Object.entries(STATES).filter(([state, { word }]) => state !== word)).toEqual([]);
    const shapes = Object.values(SHAPES);
    for (const key of ['glyph', 'ascii'] as const) {
      expect(new Set(shapes.map((shape) => shape[key])).size).toBe(shapes.length);
    }
  });

  it('counts them', () => {
    const agents = [agent('a'), agent('b'), agent('c', { life: 'dead' }), agent('d', { life: 'unknown' })];
    const { counts, states, first } = verdictOf(input(agents));
    expect(counts).toEqual({ incomplete: 0, failing: 0, slow: 0, ended: 1, unknown: 1, live: 2, idle: 0 });
    expect(first.sentence).toContain('agents: 2 live, 1 ended, 1 unknown.');
    expect(states.get('c')).toEqual({ state: 'ended' });
  });
});

describe('findings', () => {
  it('says that all is well, and for which time that is known', () => {
    const agents = [agent('a'), agent('b'), agent('c', { idleMs: IDLE_AFTER_MS })];
    expect(verdictOf(input(agents)).findings).toEqual([]);
    expect(texts(input(agents))).toEqual([
      'All well: 3 agents: 2 live, 1 idle. Nothing lost, and NIXL reported no failure in the last minute.',
    ]);
    expect(texts(input([agent('a')], { observedSinceMs: NOW_MS - 12_000 }))).toEqual([
      'All well: 1 agent: 1 live. Nothing lost, and NIXL reported no failure in 12 s.',
    ]);
  });

  it('says that it measures until there is a second sample', () => {
    const first = { observedSinceMs: NOW_MS };
    expect(texts(input([agent('a')], first))).toEqual([
      'Measuring: 1 agent: 1 live. Rates and failures follow with the next sample.',
    ]);
    expect(texts(input([agent('a', { troubles: { full: trouble(1) } })], first))[0]).toMatch(/^Data incomplete/);
  });

  it('orders them by weight, and the first one is the verdict', () => {
    const given = input([agent('a', { troubles: { full: trouble(1), ...errors(2, ['canceled', 2]) } })], {
      stale: { forMs: 12_000 },
      ended: [{ id: 9, name: 'z', endedMs: NOW_MS - SUCCESSOR_MS, transferring: true }],
      problems: [{ path: '/d/x', state: 'denied', reason: 'EACCES' }],
      failingExporters: [{ name: 'otlp', failingSinceMs: SINCE_MS, reason: 'refused' }],
      stateProblems: [{ path: '/d/y', reason: 'no room' }],
      collectorLateMs: 3000,
    });
    const { first, findings } = verdictOf(given);
    expect(first).toBe(findings[0]);
    expect(findings.map(({ kind }) => kind)).toEqual([
      ...['stale', 'incomplete', 'incomplete', 'failing', 'receiver', 'ended', 'problem', 'state'],
    ]);
  });

  it('says that all is well above notes, which follow alarms', () => {
    const note = { path: '/e', state: 'no_rings', reason: 'there are no files' };
    const noted = verdictOf(input([agent('a')], { problems: [note] }));
    expect([noted.first.kind, ...noted.findings.map(levelOf)]).toEqual(['well', 'note']);
    const problems = [note, { path: '/d/x', state: 'busy', reason: 'held' }];
    const stateProblems = [{ path: '/d/y', reason: 'no room' }];
    const { first, findings } = verdictOf(input([agent('a')], { problems, stateProblems }));
    expect(findings.map(levelOf)).toEqual(['alarm', 'alarm', 'note']);
    expect(first).toBe(findings[0]);
  });

  it('names a stale answer, its age and its reason', () => {
    expect(texts(input([agent('a')], { stale: { forMs: 12_900, reason: 'connection refused' } }))).toEqual([
      `Stale: no answer from gpu-17:9464 for 12 s (connection refused): the numbers are of ${timeOfDay(NOW_MS)}. ` +
        'Check that nixl-otel serve runs there, and the network between.',
    ]);
  });

  it('names a host that has never answered', () => {
    const stale = { forMs: 12_900, reason: 'connection refused', answered: false } as const;
    expect(texts(input([agent('a')], { stale }))).toEqual([
      'No answer: gpu-17:9464 has not answered yet, for 12 s (connection refused), so its agents are missing. ' +
        'Check the address, that nixl-otel serve runs there, and the network between.',
    ]);
  });

  it('says where serve looks if there is no agent, and files that cannot be read', () => {
    const advice =
      'Start agents with NIXL_TELEMETRY_ENABLE=y and NIXL_TELEMETRY_DIR=/dev/shm/nixl. nixl-otel doctor says why one is not seen.';
    expect(texts(input([]))).toEqual([
      `No agents yet: serve looks into /dev/shm/nixl and has found no ring of an agent. ${advice}`,
    ]);
    const origin = { kind: 'rings', name: '/a, /b', directories: ['/a', '/b'] } as const;
    const problems = [
      { path: '/a', state: 'no_rings', reason: 'there are no files' },
      { path: '/b/x', state: 'denied', reason: 'EACCES' },
    ];
    const [none, denied, ...more] = texts(input([], { origin, problems, problemCount: 2 }));
    expect(none).toContain('/a, /b has no ring of an agent, and 1 file cannot be read. Start agents');
    expect(denied).toContain('File not read: /b/x: may not be read (EACCES).');
    expect(more).toEqual([]);
  });

  it('names the ring that was found full, and what mends it', () => {
    const full = agent('a', { troubles: { full: trouble(214) } });
    expect(texts(input([full]))).toEqual([
      `Data incomplete: a: ring found full 214 times since ${SINCE}, so its numbers are too low. ` +
        'Restart it with NIXL_TELEMETRY_BUFFER_SIZE=16384 (now 4,096), or give serve more CPU time.',
    ]);
    expect(texts(input([{ ...full, troubles: { full: trouble(1) } }]))[0]).toContain('found full once since');
    const losing = { ...full, troubles: { full: trouble(214), lost: { ...trouble(19), perSecond: 40_950.4 } } };
    expect(texts(input([losing]))).toEqual([
      `Data incomplete: a: ring found full 214 times since ${SINCE}, with at least 19 events lost and probably far more, ` +
        'so its numbers are too low. Restart it with NIXL_TELEMETRY_BUFFER_SIZE=16384 ' +
        '(now 4,096, at 40,950 events/s or more), or give serve more CPU time.',
    ]);
    const faster = { ...losing.troubles, lost: { ...trouble(90_000), perSecond: 300_000 }, dropped: trouble(90_000) };
    expect(texts(input([{ ...losing, troubles: faster }]))).toEqual([expect.stringContaining('SIZE=65536 (now')]);
    expect(texts(input([{ ...losing, troubles: faster, flushIntervalMs: 1000 }]))).toEqual([
      expect.stringContaining('SIZE=1048576 (now'),
    ]);
    expect(texts(input([{ ...full, capacity: 2 ** 23 }]))[0]).toContain('SIZE=16777216 (now 8,388,608)');
    expect(texts(input([{ ...full, capacity: 2 ** 24 }]))[0]).toContain('low. Give serve more CPU time.');
  });

  it('says each other cause of incomplete data', () => {
    const cause = (troubles: Troubles): string => texts(input([agent('a', { troubles })]))[0]!;
    expect(cause({ dropped: trouble(1) })).toContain(`a: reports 1 dropped event since ${SINCE}, so`);
    expect(cause({ lost: trouble(19) })).toContain(`a: at least 19 events lost since ${SINCE}, so`);
    expect(texts(input([agent('a', { troubles: { dropped: trouble(7), lost: trouble(7) } })]))).toHaveLength(1);
    expect(cause({ undrained: trouble(7) })).toContain(`a: ring full and not drained since ${SINCE}, so new events`);
    expect(cause({ lapped: trouble(7) })).toContain('a: has written faster than its ring can be observed since');
    expect(cause({ foreign: trouble(2) })).toContain('a: another reader has taken events out of its ring since');
    expect(cause({ unfollowed: trouble(2) })).toContain(
      `a: 2 restarts since ${SINCE} not followed, so its numbers may`,
    );
  });

  it('says that the collector thread is late', () => {
    const [late] = verdictOf(input([agent('a')], { collectorLateMs: 3200 })).findings;
    expect(late).toMatchObject({ kind: 'incomplete', tone: 'warn', agents: [], sinceMs: NOW_MS - 3200 });
    expect(late!.sentence).toContain('no turn for 3 s');
  });

  it('sums up more than three agents of one cause, and names the worst one', () => {
    const many = [1, 5, 3, 2].map((count) => agent(`a${count}`, { troubles: { full: trouble(count) } }));
    const { findings } = verdictOf(input(many));
    expect(findings).toHaveLength(1);
    expect(findings[0]!.agents).toEqual(['a5', 'a3', 'a2', 'a1']);
    expect(texts(input(many))[0]).toContain(
      `4 agents, most of all a5: rings found full 11 times since ${SINCE}, so their numbers are too low. Restart it`,
    );
    expect(verdictOf(input(many.slice(1))).findings.map(({ agents }) => agents)).toEqual([['a5'], ['a3'], ['a2']]);
  });

  it('says how many transfers fail, and the most frequent status', () => {
    const one = agent('a', { txRequests: 1, troubles: errors(60, ['remote_disconnect', 60]) });
    expect(texts(input([one]))).toEqual([
      `Transfers fail: a: 2 errors/s, all remote_disconnect, since ${SINCE}. ` +
        "Check that the peers run, and the network to them. The agent's log has each failure.",
    ]);
    const two = agent('b', { troubles: errors(114, ['canceled', 100], ['backend', 14]) });
    expect(texts(input([one, two]))[0]).toContain(
      `2 agents, most of all b: 5.8 errors/s, mostly canceled, since ${SINCE}. The program`,
    );
    expect(verdictOf(input([one, two])).findings[0]).toMatchObject({
      agents: ['b', 'a'],
      size: { value: 174, text: '174 failures' },
    });
    const mixed = agent('c', {
      txRequests: 1,
      troubles: errors(100, ['not_posted', 8], ['backend', 49], ['mismatch', 43]),
    });
    expect(texts(input([mixed]))[0]).toMatch(/errors\/s, since \S+\. The agent's log has each failure\.$/);
  });

  it('relates errors to a minute at most, and to a second at least', () => {
    const at = (sinceMs: number, lastMinute: number): string => {
      const run = { ...errors(1, ['x', 1]).errors!, sinceMs, lastMinute };
      return texts(input([agent('a', { txRequests: 1, troubles: { errors: run } })]))[0]!;
    };
    expect(at(NOW_MS, 15)).toContain('15 errors/s');
    expect(at(NOW_MS - 3_600_000, 120)).toContain('2 errors/s');
  });

  it('says which exporter fails, and why', () => {
    const failingExporters = [{ name: 'otlp', failingSinceMs: SINCE_MS, reason: 'http://c:4318: ECONNREFUSED' }];
    const { first } = verdictOf(input([agent('a')], { failingExporters }));
    expect(first).toMatchObject({ kind: 'receiver', tone: 'bad', word: 'Receiver down', sinceMs: SINCE_MS });
    expect(first.sentence).toBe(`exporter otlp has failed since ${SINCE}: http://c:4318: ECONNREFUSED`);
  });

  it('says of single failures how many of all they are, and when the last one was', () => {
    const failed = (count: number, about: Partial<AgentModel<string>>): string => {
      const run = { ...errors(count, ['canceled', count]).errors!, lastMs: NOW_MS - 10_000 };
      return texts(input([agent('a', { troubles: { errors: run }, ...about })]))[0]!.split('. ')[0]!;
    };
    const last = timeOfDay(NOW_MS - 10_000);
    expect(failed(1, { errors: [1], txRequests: 149 })).toBe(
      `Transfers fail: a: 1 of 150 transfers failed (canceled), at ${last}`,
    );
    expect(failed(2, { errors: [1, 1], rxRequests: 8 })).toBe(
      `Transfers fail: a: 2 of 10 transfers failed, all canceled, the last at ${last}`,
    );
    expect(failed(2, { errors: [2, 10], rxRequests: 988 })).toBe(
      `Transfers fail: a: 2 transfers failed, all canceled, the last at ${last}; 12 of 1,000 transfers since the sums began`,
    );
    expect(failed(640, { errors: [640] })).toMatch(
      /errors\/s, all canceled, since \S+: 640 of 640 transfers failed, nothing was ever transferred$/,
    );
  });

  it('counts failures of agents that ended', () => {
    const dead = agent('a', { life: 'dead', errors: [3], txRequests: 7, troubles: errors(3, ['backend', 3]) });
    expect(texts(input([dead]))[0]).toContain('a: 3 of 10 transfers failed, all backend');
  });

  it('never says that nothing failed where something did', () => {
    const failedMs = NOW_MS - 3_600_000;
    const before = [agent('a', { errors: [0, 2], failedMs, txRequests: 1 }), agent('b', { errors: [1] })];
    expect(texts(input(before))).toEqual([
      'All well: 2 agents: 2 live. Nothing lost, and NIXL reported no failure in the last minute; ' +
        `3 failures before, the last at ${timeOfDay(failedMs)}.`,
    ]);
    expect(texts(input([agent('b', { errors: [640] })]))[0]).toMatch(
      /; 640 failures before, and no transfer was ever finished\.$/,
    );
  });

  it('sums up files of one state, and says nothing about files that are about to become rings', () => {
    const problems = [
      { path: '/d/1', state: 'corrupt', reason: 'too short' },
      { path: '/d/2', state: 'busy', reason: 'held' },
      { path: '/d/3', state: 'corrupt', reason: 'too short' },
      { path: '/d/4', state: 'initializing', reason: 'no version yet' },
      { path: '/e', state: 'no_rings', reason: 'there are no files' },
    ];
    expect(texts(input([agent('a')], { problems })).map((text) => text.split('. ')[0])).toEqual([
      'File not read: /d/2: held by another consumer (held)',
      'File not read: 2 files damaged, or no ring, first /d/1 (too short)',
      'No rings: /e: there are no files',
    ]);
  });

  it('says what the end of serve loses of deleted rings', () => {
    const deleted = (path: string) => ({ path, state: 'deleted', reason: 'its agent still writes it' });
    const advice = /Start the agents? again before serve: each makes a new ring. If a logout/;
    const [one] = texts(input([agent('a')], { problems: [deleted('/d/1')] }));
    expect(one).toContain(
      'Ring deleted: /d/1 was deleted: this serve counts what its agent still writes there, and no later',
    );
    expect(one).toMatch(advice);
    const [two] = texts(input([agent('a')], { problems: [deleted('/d/1'), deleted('/d/2')] }));
    expect(two).toContain('Rings deleted: 2 rings were deleted, first /d/1: this serve counts what their agents still');
    expect(two).toMatch(advice);
  });

  it('says which right is missing if lives are unknown', () => {
    const problems = [{ path: '/d', state: 'unseen', reason: 'the life of 1 agent cannot be seen, because x; do y' }];
    expect(texts(input([agent('a', { life: 'unknown' })], { problems }))).toEqual([
      'Lives unknown: /d: the life of 1 agent cannot be seen, because x; do y. ' +
        'Until then the end of such an agent is not seen: its last values stay, and nixl_agent_up is absent.',
    ]);
    expect(texts(input([], { problems }))[0]).not.toContain('cannot be read');
  });

  it('says that state is not kept', () => {
    const stateProblems = [{ path: '/d/a', reason: 'no room' }];
    expect(texts(input([agent('a')], { stateProblems, stateProblemCount: 3 }))).toEqual([
      'State not kept: the next serve begins 3 agents at 0: /d/a: no room. The sums of this serve are right.',
    ]);
  });
});

describe('agents of engines', () => {
  const UUID = '3f2a8d1e-0c55-4b8e-9b1a-2f6f5d8a9b10';
  const OTHER = '9b1a2f6f-8d1e-4b8e-0c55-5d8a9b103f2a';
  const failing = (name: string, label: string) =>
    agent(name, { engine: { label }, troubles: errors(2, ['backend', 2]) });

  it('are called by what the engine tells, and have their names beside', () => {
    const { findings } = verdictOf(input([failing(UUID, 'vllm :8100 decode TP1'), agent('well')]));
    expect(findings).toMatchObject([{ kind: 'failing', names: [UUID] }]);
    expect(findings[0]!.sentence).toMatch(/^vllm :8100 decode TP1[ :]/);
    expect(findings[0]!.sentence).not.toContain(UUID);
  });

  it('are called by their names where two have one label', () => {
    const label = 'vllm :8100 decode';
    const [finding] = verdictOf(input([failing(UUID, label), agent(OTHER, { engine: { label } })])).findings;
    expect(finding!.sentence).toContain(UUID);
    expect(finding!.sentence).not.toContain(label);
  });
});
