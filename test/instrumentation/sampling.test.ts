import { describe, expect, it } from 'vitest';
import { DurationPump } from '../../src/instrumentation/instruments/duration-pump.js';
import { SamplingControl, TimeBudget } from '../../src/instrumentation/instruments/sampling.js';
import { InMemoryTap } from './in-memory-source.js';

describe('sampling control', () => {
  const window = (perSecond: number) => ({ seen: perSecond / 4, elapsedMs: 250, costMs: 0.001 });

  it('keeps everything while the cost stays within the budget', () => {
    expect(new SamplingControl().update(window(7000))).toBe(1);
  });

  it('leaves out as many as the budget requires, at once', () => {
    const control = new SamplingControl();
    expect(control.update(window(70_000))).toBe(10);
    expect(control.update(window(2_500_000))).toBe(358);
  });

  it('leaves out fewer if the budget is larger', () => {
    expect(new SamplingControl(100).update(window(70_000))).toBe(1);
    expect(new SamplingControl(1).update(window(70_000))).toBe(100);
  });

  it('recovers only after the load was lower for some time, and then to the required share', () => {
    const control = new SamplingControl();
    control.update(window(70_000));
    const during = [0, 14_000, 0, 0, 0, 0, 0].map((perSecond) => control.update(window(perSecond)));
    expect(during).toEqual([10, 10, 10, 10, 10, 10, 10]);
    expect(control.update(window(0))).toBe(2);
  });
});

describe('time budget', () => {
  it('fills up by 10 ms per second and never beyond one second', () => {
    const budget = new TimeBudget(0);
    budget.spend(10);
    expect(budget.left(0)).toBe(0);
    expect(budget.left(500)).toBe(5);
    expect(budget.left(60_000)).toBe(10);
  });
});

const NONE = { type: 0, seen: 0, recorded: 0, sampledOut: 0, lost: 0 };

/** Simulates a machine: recording one event takes `costMs` on its clock. */
class Machine {
  nowMs = 0;
  costMs = 0.001;
  readonly tap = new InMemoryTap([6]);
  readonly recorded: number[] = [];
  readonly warnings: number[] = [];
  readonly errors: unknown[] = [];
  readonly pump: DurationPump;

  constructor(budgetMs?: number) {
    this.pump = new DurationPump({
      tap: this.tap,
      now: () => this.nowMs,
      record: (_id, _type, value) => {
        this.nowMs += this.costMs;
        this.recorded.push(value);
        return 'recorded';
      },
      onSampling: (oneIn) => this.warnings.push(oneIn),
      onError: (error) => this.errors.push(error),
      ...(budgetMs === undefined ? {} : { budgetMs }),
    });
  }

  push(count: number): void {
    for (let i = 0; i < count; i++) this.tap.push(1, 6, i);
  }

  /** Simulates a second at this rate, with the slices of the timer. Returns the time that recording took. */
  second(perSecond: number): number {
    let spent = 0;
    const start = this.nowMs;
    for (let slice = 1; slice <= 33; slice++) {
      this.nowMs = Math.max(this.nowMs, start + slice * 30);
      this.push(Math.round(perSecond / 33));
      const before = this.nowMs;
      this.pump.slice();
      spent += this.nowMs - before;
    }
    return spent;
  }
}

describe('the duration pump', () => {
  it('records everything, in order, under an ordinary load', () => {
    const machine = new Machine();
    machine.push(100);
    expect(machine.pump.slice()).toBe(100);
    expect(machine.recorded).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(machine.pump.stats()).toEqual([{ type: 6, seen: 100, recorded: 100, sampledOut: 0, lost: 0 }]);
  });

  it('ends a slice after 0.3 ms within a batch, and continues there', () => {
    const machine = new Machine();
    machine.push(1000);
    const first = machine.pump.slice();
    expect(machine.nowMs).toBeGreaterThanOrEqual(0.3);
    expect(machine.nowMs).toBeLessThan(0.32);
    machine.nowMs += 30;
    machine.pump.slice();
    expect(machine.recorded).toEqual(Array.from({ length: machine.recorded.length }, (_, i) => i));
    expect(machine.recorded.length).toBeGreaterThan(first);
  });

  it('spends no more than 10 ms per second, however many events come', () => {
    const machine = new Machine();
    machine.second(100_000);
    for (let second = 0; second < 5; second++) expect(machine.second(100_000)).toBeLessThanOrEqual(10.6);
  });

  it('spends a larger budget, and then samples less', () => {
    const machine = new Machine(30);
    let spent = 0;
    for (let second = 0; second < 5; second++) spent = machine.second(100_000);
    expect(spent).toBeLessThanOrEqual(31);
    expect(spent).toBeGreaterThan(15);
    expect(machine.tap.oneIn).toBeLessThan(12);
  });

  it('samples under load, warns once, and counts each event by outcome', () => {
    const machine = new Machine();
    for (let second = 0; second < 10; second++) machine.second(100_000);
    expect(machine.tap.oneIn).toBeGreaterThanOrEqual(14);
    expect(machine.tap.oneIn).toBeLessThanOrEqual(40);
    expect(machine.warnings).toHaveLength(1);
    const [{ seen, recorded, sampledOut, lost } = NONE] = machine.pump.stats();
    expect(seen).toBe(machine.tap.stats().seen);
    expect(lost).toBe(0);
    expect(recorded + sampledOut).toBeLessThanOrEqual(machine.tap.stats().seen);
  });

  it('records the queued events while it samples', () => {
    const machine = new Machine();
    for (let second = 0; second < 30; second++) machine.second(100_000);
    const { kept } = machine.tap.stats();
    expect(kept - machine.recorded.length).toBeLessThan(500);
  });

  it('stops sampling when the load ends', () => {
    const machine = new Machine();
    for (let second = 0; second < 10; second++) machine.second(100_000);
    for (let second = 0; second < 10; second++) machine.second(100);
    expect(machine.tap.oneIn).toBe(1);
  });

  it('uses the rest of the budget at a flush, so that a last collect holds all of an ordinary load', () => {
    const machine = new Machine();
    machine.push(5000);
    expect(machine.pump.flush()).toBe(5000);
    machine.push(50_000);
    expect(machine.pump.flush()).toBeLessThan(6000);
  });

  it('does not begin to sample because of one long pause', () => {
    const machine = new Machine();
    machine.push(64);
    machine.costMs = 5;
    machine.pump.slice();
    machine.costMs = 0.001;
    for (let second = 0; second < 3; second++) machine.second(500);
    expect(machine.tap.oneIn).toBe(1);
  });

  it('counts durations of unknown agents as lost', () => {
    const tap = new InMemoryTap([6]);
    const pump = new DurationPump({
      tap,
      now: () => 0,
      record: () => 'unknown',
      onSampling: () => {},
      onError: () => {},
    });
    tap.push(1, 6, 5);
    pump.flush();
    expect(pump.stats()).toMatchObject([{ recorded: 0, lost: 1 }]);
  });

  it('keeps an event of a new agent and all later events, in order', () => {
    const tap = new InMemoryTap([6]);
    const recorded: number[] = [];
    let ready = false;
    const pump = new DurationPump({
      tap,
      now: () => 0,
      record: (id, _type, value) => {
        if (id === 2 && !ready) return 'later';
        recorded.push(value);
        return 'recorded';
      },
      onSampling: () => {},
      onError: () => {},
    });
    tap.push(1, 6, 10);
    tap.push(2, 6, 20);
    tap.push(1, 6, 30);
    expect(pump.flush()).toBe(1);
    expect(pump.flush()).toBe(0);
    ready = true;
    expect(pump.flush()).toBe(2);
    expect(recorded).toEqual([10, 20, 30]);
    expect(pump.stats()).toMatchObject([{ recorded: 3, lost: 0 }]);
  });
});
