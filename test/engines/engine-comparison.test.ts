/** Compares an engine's own page with the rings of its agents. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentsOfPage, comparedSums, differenceReasons, type RingAgent } from '../../src/engines/engine-comparison.js';
import { enginePageSums } from '../../src/engines/engine-page.js';
import { vllmPage } from '../support/vllm-page.js';

const NONE = { transfers: 0, bytes: 0, transferUs: 0, postUs: 0 };
const MOVED = { transfers: 203, bytes: 263_716_864, transferUs: 1_415_565, postUs: 573_173 };
const page = enginePageSums(vllmPage(MOVED))!;

function agent(instance: string | undefined, more: Partial<RingAgent> = {}): RingAgent {
  const engine = { engine: 'vllm', part: 'connector', model: 'tiny', instancePid: 7, ...(instance && { instance }) };
  const fine = { life: 'alive', lost: 0, foundFull: 0, suspect: false } as const;
  return { label: `vllm ${instance ?? 'tiny'}`, engine, ...fine, moved: NONE, ...more };
}

describe('the page of an engine', () => {
  it('has the sums of all engines of vLLM in the units of rings', () => {
    expect(page).toMatchObject({ engine: 'vLLM', moved: MOVED, models: ['tiny'], beyondRings: [] });
    const two = `${vllmPage(MOVED)}\n${vllmPage(MOVED).replaceAll('engine="0"', 'engine="1"')}`;
    expect(enginePageSums(two)!.moved).toEqual({
      ...{ transfers: 406, bytes: 527_433_728, transferUs: 2_831_130, postUs: 1_146_346 },
    });
  });

  it('has the sums of a recorded page of vLLM 0.32.0', () => {
    const recorded = readFileSync(new URL('vllm-0.32-page.txt', import.meta.url), 'utf8');
    expect(enginePageSums(recorded)).toMatchObject({
      ...{ engine: 'vLLM', models: ['tiny'], startedMs: 1_795_953_063_390, beyondRings: [] },
      moved: { transfers: 20, bytes: 44_564_480, transferUs: 54_274_011, postUs: 2_671_208 },
    });
    // The page that other tests make has the same series of each sum and counter.
    const names = (text: string) => new Set(text.match(/^vllm:nixl_\w+_(?:count|sum|total)/gm));
    for (const name of names(vllmPage(MOVED))) expect(names(recorded)).toContain(name);
  });

  it('compares only the sums that it has', () => {
    const older = vllmPage(MOVED).replace(/^vllm:nixl_bytes_transferred_sum.*$/m, '');
    const unknown = `${older}vllm:nixl_bytes_transferred_sum{engine="1"} NaN\n`;
    for (const text of [older, unknown]) {
      const { moved } = enginePageSums(text)!;
      expect(moved).toEqual({ ...MOVED, bytes: undefined });
      const sums = comparedSums({ engine: 'vLLM', before: MOVED, page: moved!, after: MOVED });
      expect(sums.map(({ subject, differs }) => [subject, differs])).toEqual([
        ['transfers', 0],
        ['sum of times', 0],
        ['sum of post times', 0],
      ]);
    }
  });

  it('began when the youngest of its processes did', () => {
    const two = `process_start_time_seconds{pid="1"} 5\nprocess_start_time_seconds{pid="2"} 7\n`;
    expect(
      enginePageSums(`${vllmPage(MOVED)}${two}`.replace(/^process_start_time_seconds [0-9.e+]+$/m, ''))!.startedMs,
    ).toBe(7000);
  });

  it('says what no ring shows', () => {
    const failed = vllmPage(MOVED).replace(/(nixl_num_failed_transfers_total\{.*\}) 0.0/, '$1 3.0');
    expect(enginePageSums(failed)!.beyondRings).toEqual([['failed transfers, handshakes and notifications', 3]]);
  });

  it.each([
    ['vLLM', 'vllm:num_requests_running{engine="0"} 1'],
    ['SGLang', 'sglang:kv_transfer_total_mb_sum{engine_type="decode"} 12'],
    ['TensorRT-LLM', 'trtllm_kv_transfer_success_total 12'],
    ['lmcache', 'lmcache:p2p_time_to_transfer_sum 12'],
    ['Dynamo', 'dynamo_frontend_requests_total 12'],
  ])('of %s without such series says what it has', (engine, line) => {
    const found = enginePageSums(`# HELP x y\n${line}\n`)!;
    expect(found).toMatchObject({ engine, moved: undefined });
    expect(found.page.instead).not.toBe('');
  });

  it('of vLLM is found beside series of another engine', () => {
    expect(enginePageSums(`dynamo_component_uptime_seconds 3\n${vllmPage(MOVED)}`)!.engine).toBe('vLLM');
  });

  it('is none of another program', () => {
    expect(enginePageSums('process_start_time_seconds 1\nagent_rx_bytes_total 3\n')).toBeUndefined();
    expect(enginePageSums('<html>')).toBeUndefined();
  });
});

describe('agents of a page', () => {
  it('are those of its port that may live', () => {
    const own = agent(':8100');
    const ended = agent(':8100', { life: 'dead' });
    const tier = agent(':8100', { engine: { ...own.engine, part: 'tier' } });
    expect(agentsOfPage([own, ended, tier, agent(':8200'), agent(undefined)], page, '8100')).toEqual([own]);
  });

  it('are those of its model where the port is not known', () => {
    const own = agent(undefined);
    const other = agent(undefined, { engine: { ...own.engine, model: 'large' } });
    expect(agentsOfPage([own, other, agent(':8200')], page, '8000')).toEqual([own]);
  });
});

describe('sums', () => {
  const at = (sums: Partial<typeof MOVED>) => ({ ...MOVED, ...sums });
  const compared = (before: typeof MOVED, theirs: typeof MOVED, after = before) =>
    comparedSums({ engine: 'vLLM', before, page: theirs, after });

  it('are equal to the unit', () => {
    expect(compared(MOVED, MOVED).map(({ subject, what, differs }) => [subject, what, differs])).toEqual([
      ['transfers', '203 in both', 0],
      ['bytes', '263,716,864 B in both', 0],
      ['sum of times', '1,415,565 µs in both', 0],
      ['sum of post times', '573,173 µs in both', 0],
    ]);
  });

  it.each(['transfers', 'bytes', 'transferUs', 'postUs'] as const)('differ by one of %s', (key) => {
    for (const [by, differs] of [
      [1, -1],
      [-1, 1],
    ] as const) {
      const found = compared(MOVED, at({ [key]: MOVED[key] + by })).filter((one) => one.differs !== 0);
      expect(found).toMatchObject([{ differs }]);
    }
    const { what } = compared(MOVED, at({ bytes: MOVED.bytes + 4096 }))[1]!;
    expect(what).toBe('vLLM has 263,720,960 B, the rings 263,716,864 B: the rings have 4,096 B less');
  });

  it('that grow are equal where the engine is between two looks at the rings', () => {
    const [, bytes] = compared(at({ bytes: 100 }), at({ bytes: 150 }), at({ bytes: 200 }));
    expect(bytes).toMatchObject({
      differs: 0,
      what: expect.stringContaining('equal within what moved meanwhile') as string,
    });
    expect(compared(at({ bytes: 100 }), at({ bytes: 201 }), at({ bytes: 200 }))[1]!.what).toMatch(
      /: the rings have 1 B less$/,
    );
    expect(compared(at({ bytes: 100 }), at({ bytes: 99 }), at({ bytes: 200 }))[1]!.what).toMatch(
      /: the rings have 1 B more$/,
    );
  });

  it('of times may lose what a double loses', () => {
    const many = { transfers: 1e8, bytes: 1, transferUs: 1e12, postUs: 1e12 };
    expect(compared(many, { ...many, transferUs: 1e12 + 20_000 })[2]!.differs).toBe(0);
    expect(compared(many, { ...many, transferUs: 1e12 + 30_000 })[2]!.differs).toBe(-1);
  });
});

describe('reasons', () => {
  const START_MS = 1_700_000_000_000;
  const reasons = (differs: -1 | 1, agents: readonly RingAgent[], more: object = {}) =>
    differenceReasons(differs, { page: { ...page, startedMs: START_MS }, agents, unknown: 0, ...more });

  it('for less in the rings', () => {
    expect(reasons(-1, [agent(':8100')])).toEqual(['no reason is known']);
    expect(reasons(-1, [agent(':8100', { lost: 3, foundFull: 2 })])).toEqual([
      'at least 3 events were lost',
      'a full ring was found 2 times',
    ]);
    const late = [agent(':8100', { startTimeMs: START_MS + 90_000 })];
    expect(reasons(-1, late, { serveStartedMs: START_MS + 89_000 })).toEqual([
      expect.stringMatching(/^serve began to count vllm :8100 at its own start, .* refused events$/),
    ]);
    expect(reasons(-1, late, { serveStartedMs: START_MS + 9000, unknown: 1 })).toEqual([
      '1 agent without a known engine may belong to it',
    ]);
  });

  it('for more in the rings', () => {
    expect(reasons(1, [agent(':8100', { startTimeMs: START_MS - 60_000, lost: 1 })])).toEqual([
      'the sums of vllm :8100 began before the engine',
      expect.stringMatching(/^vLLM publishes a transfer with its next step/),
    ]);
  });

  it('of either', () => {
    const [one, two] = [agent(':8100', { suspect: true }), agent(':8100')];
    const both = [one, { ...two, engine: { ...two.engine, instancePid: 8 } }];
    for (const differs of [-1, 1] as const) {
      expect(reasons(differs, both).slice(0, 2)).toEqual([
        '2 instances have this port or model, and the page is that of one',
        'the numbers of vllm :8100 may be wrong',
      ]);
    }
  });
});
