/** Parts of a run's report that are pure: the line over time, first transfers, memory, the size of rings, NIXL's variables. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentEnvironment } from '../../../src/cli/run/agent-environment.js';
import { FirstTransfers } from '../../../src/cli/run/first-transfers.js';
import { DEREGISTERED, MemoryPeaks, REGISTERED } from '../../../src/cli/run/memory-peaks.js';
import { drainIntervalOf, slotsFor } from '../../../src/cli/run/ring-size.js';
import { RunLine } from '../../../src/cli/run/run-line.js';
import { MOST_STEPS } from '../../../src/report/run-report.js';

const RX = 1;
const TX = 0;
const TIME = 6;
const POST = 7;

function batch(events: readonly (readonly [agentId: number, type: number, value: number])[]) {
  return {
    length: events.length,
    agentIds: Float64Array.from(events, ([id]) => id),
    types: Uint32Array.from(events, ([, type]) => type),
    values: Float64Array.from(events, ([, , value]) => value),
  };
}

describe('the line of a run', () => {
  it('has all that moved, in at most 240 steps, however long the run is', () => {
    const samples = fc.array(fc.record({ afterMs: fc.nat(400), bytes: fc.nat(1e9) }), { minLength: 1, maxLength: 600 });
    fc.assert(
      fc.property(samples, (given) => {
        const line = new RunLine(1000, 50);
        let [nowMs, bytes] = [1000, 0];
        for (const one of given) {
          nowMs += one.afterMs;
          bytes += one.bytes;
          line.add(nowMs, [[1, { txBytes: bytes, rxBytes: 0, transfers: 0, errors: 0, memoryBytes: bytes }]]);
        }
        const { txBytes, memoryBytes } = line.of(1);
        const { steps, stepMs, beginMs } = line.steps;
        expect(txBytes.reduce((sum, one) => sum + one, 0)).toBe(bytes);
        expect(memoryBytes.at(-1)).toBe(bytes);
        expect(txBytes).toHaveLength(steps);
        expect(steps).toBeLessThanOrEqual(MOST_STEPS);
        expect(beginMs + steps * stepMs).toBeGreaterThan(nowMs);
      }),
    );
  });

  it('has zeros for an agent before its begin', () => {
    const line = new RunLine(0, 50);
    const values = { txBytes: 0, rxBytes: 7, transfers: 1, errors: 0, memoryBytes: 0 };
    line.add(0, []);
    line.add(120, [[4, values]]);
    expect(line.of(4).rxBytes).toEqual([0, 0, 7]);
    expect(line.of(5).rxBytes).toEqual([0, 0, 0]);
  });
});

describe('the first transfer of an agent', () => {
  it('is put together from the first events of its types, over batches', () => {
    const first = new FirstTransfers();
    first.add(batch([[1, POST, 3], [2, TIME, 9], [1, TIME, 50]])); // prettier-ignore
    first.add(batch([[2, TX, 4096], [1, RX, 512], [1, TIME, 1], [1, TX, 1]])); // prettier-ignore
    expect(first.of(1, true)).toEqual({ direction: 'rx', bytes: 512, timeUs: 50, postTimeUs: 3 });
    expect(first.of(1, false)).toEqual({ direction: 'rx', bytes: 512, timeUs: 50 });
    expect(first.of(2, true)).toEqual({ direction: 'tx', bytes: 4096, timeUs: 9 });
    expect(first.of(3, true)).toBeUndefined();
  });
});

describe('the memory of an agent', () => {
  it('has its peak between two samples as well, and begins anew with a restart', () => {
    const peaks = new MemoryPeaks();
    peaks.add(batch([[1, REGISTERED, 100], [1, REGISTERED, 50], [1, DEREGISTERED, 120]])); // prettier-ignore
    peaks.set(1, 0);
    peaks.add(batch([[1, REGISTERED, 149]]));
    expect(peaks.of(1)).toBe(150);
    expect(peaks.of(2)).toBe(0);
  });
});

describe('the size of rings', () => {
  it.each([
    [Infinity, 1_048_576],
    [64 * 2 ** 20, 32_768],
    [20 * 2 ** 20, 8192],
    [2 ** 20, 4096],
  ])('fits 64 agents into half of %i free bytes', (freeBytes, slots) => {
    expect(slotsFor(freeBytes)).toBe(slots);
    expect(drainIntervalOf(slots)).toBeLessThanOrEqual(slots >= 65_536 ? 20 : 2);
  });
});

describe('the variables of agents', () => {
  const own = { directory: '/dev/shm/x', slots: 4096, flushIntervalMs: 10 };

  it('leave other variables as they are, and say nothing where they overrule nothing', () => {
    const { variables, notes } = agentEnvironment({ PATH: '/bin', NIXL_TELEMETRY_ENABLE: 'on' }, own);
    expect(notes).toEqual([]);
    expect(variables).toEqual({
      PATH: '/bin',
      NIXL_TELEMETRY_ENABLE: 'y',
      NIXL_TELEMETRY_DIR: '/dev/shm/x',
      NIXL_TELEMETRY_BUFFER_SIZE: '4096',
      NIXL_TELEMETRY_RUN_INTERVAL: '10',
    });
  });

  it('say each setting that they overrule', () => {
    const given = { NIXL_TELEMETRY_EXPORTER: 'doca', NIXL_TELEMETRY_RUN_INTERVAL: '1000', NIXL_CONFIG_FILE: '/none' };
    expect(agentEnvironment(given, own).notes).toEqual([
      "/none cannot be used as NIXL's configuration, and agents may not start with it: ENOENT",
      'NIXL_TELEMETRY_RUN_INTERVAL=1000 is overruled: agents of a run have 10',
      'NIXL_TELEMETRY_EXPORTER=doca is overruled: agents of a run write rings',
    ]);
  });
});
