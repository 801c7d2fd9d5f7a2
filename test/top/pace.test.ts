import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StopRequest } from '../../src/process/stop.js';
import { Pace } from '../../src/top/pace.js';

/** Pauses that fake timers end. */
const STOP = {
  pause: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, ms))),
} as StopRequest;

describe('a pace', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Times at which the next frames are due, milliseconds. `work`: time that each frame takes. */
  async function dueAfter(pace: Pace, count: number, work = 0): Promise<number[]> {
    const times: number[] = [];
    const frames = (async () => {
      for (let i = 0; i < count; i++) {
        await pace.wait();
        times.push(performance.now());
        if (work > 0) await STOP.pause(work);
      }
    })();
    await vi.runAllTimersAsync();
    await frames;
    return times;
  }

  it('has no drift', async () => {
    const begin = performance.now();
    const times = await dueAfter(new Pace(1_000, STOP), 3, 400);
    expect(times.map((ms) => ms - begin)).toEqual([1_000, 2_000, 3_000]);
  });

  it('leaves out frames that would be late', async () => {
    const begin = performance.now();
    const times = await dueAfter(new Pace(1_000, STOP), 3, 2_500);
    expect(times.map((ms) => ms - begin)).toEqual([1_000, 3_500, 6_000]);
  });

  it('obeys a new interval at once, also while it waits', async () => {
    const begin = performance.now();
    const pace = new Pace(3_600_000, STOP);
    setTimeout(() => pace.setInterval(200), 500);
    const times = await dueAfter(pace, 3);
    expect(times.map((ms) => ms - begin)).toEqual([500, 700, 900]);
  });
});
