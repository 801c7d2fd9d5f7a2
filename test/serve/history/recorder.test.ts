import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentColumns, fleetAnswer } from '../../../src/serve/api/history.js';
import { AGENTS_WITH_ALL_POINTS, pointsFor } from '../../../src/serve/history/agent-history.js';
import type { AgentSnapshot } from '../../../src/ground/tally.js';
import { KeptPoints, rounded } from '../../../src/serve/history/points.js';
import {
  agent,
  ERR_BACKEND,
  recording,
  RX_BYTES,
  snapshotAt,
  START_MS,
  TX_BYTES,
  TX_REQUESTS,
  XFER_TIME,
} from './snapshots.js';

const times = (seconds: number[]): number[] => seconds.map((one) => START_MS + one * 1000);

function fleetOf({ recorder }: ReturnType<typeof recording>, fromMs = 0) {
  return fleetAnswer(recorder, { fromMs, startedMs: 1, takenMs: 2 });
}

function columnsOf({ recorder }: ReturnType<typeof recording>, id: number, fromMs = 0) {
  const { timesMs, rows } = recorder.record.agents.after(fromMs, id);
  return { timesMs, ...agentColumns(id, rows.get(id)!) };
}

describe('the history of all agents', () => {
  it('has rates, percentiles and errors of the time of each point', () => {
    const history = recording();
    const full = { peakFound: 2047, foundFull: 4, memoryInUse: 1_234_567n };
    history.sample(0, [agent(1, { [TX_BYTES]: [5] }), agent(2)]);
    const now = { [TX_BYTES]: [5, 4000], [TX_REQUESTS]: [1], [XFER_TIME]: [7, 9, 20], [ERR_BACKEND]: [1, 1] };
    history.sample(2, [agent(1, now, full), agent(2, { [TX_BYTES]: [1000] })]);
    history.sample(3, [agent(1, now, full), agent(2, { [TX_BYTES]: [1000] })]);
    const { timesMs, fleet } = fleetOf(history);
    expect(timesMs).toEqual(times([0, 2, 3]));
    expect(fleet).toMatchObject({
      tx: [5, 2500, 0],
      rx: [0, 0, 0],
      requests: [0, 0.5, 0],
      errors: { backend: [0, 1, 0] },
      full: [0, 2, 0],
      fill: [0, 0.4999, 0.4999],
      memory: [0, 1_234_567, 1_234_567],
      p50: [null, 9, null],
      p99: [null, 20, null],
    });
    expect(Object.keys(fleet.errors)).toEqual(['backend']);
  });

  it('counts an agent from its start, and leaves out what one counted before it was seen', () => {
    const history = recording();
    history.sample(0, []);
    const values = { [TX_BYTES]: [100], [XFER_TIME]: [8] };
    const young = agent(1, values, { startTimeMs: START_MS + 500 });
    const old = agent(2, { [TX_BYTES]: [7000], [XFER_TIME]: [900] }, { startTimeMs: START_MS - 9_000_000 });
    history.sample(1, [young, old]);
    expect(fleetOf(history).fleet).toMatchObject({ tx: [0, 100], p99: [null, 8] });
    history.sample(2, [old]);
    expect(fleetOf(history).fleet).toMatchObject({ tx: [0, 100, 0], p99: [null, 8, null] });
  });

  it('takes at most a point a second, and none is lost', () => {
    const history = recording();
    for (const [i, seconds] of [0, 0.5, 1, 1.4, 2].entries())
      history.sample(seconds, [agent(1, { [TX_BYTES]: [100 * i] })]);
    const { timesMs, fleet } = fleetOf(history);
    expect([timesMs, fleet.tx]).toEqual([times([0, 1, 2]), [0, 200, 200]]);
  });

  it('shows a time without samples as a gap', () => {
    const history = recording();
    for (const [i, seconds] of [0, 5, 10, 60, 65].entries()) {
      const values = { [TX_BYTES]: [5000 * i], [XFER_TIME]: Array.from({ length: i }, () => 4) };
      history.sample(seconds, [agent(1, values)]);
    }
    const { timesMs, fleet, transferTimesUs } = fleetOf(history);
    expect(timesMs).toEqual(times([0, 5, 10, 60, 65]));
    expect(fleet.tx).toEqual([0, 1000, 1000, null, 1000]);
    expect(fleet.p50).toEqual([null, 4, 4, null, 4]);
    expect(transferTimesUs.timesMs).toEqual(times([5, 10, 60, 65]));
    expect(transferTimesUs.counts).toEqual([[1], [1], null, [1]]);
    expect(columnsOf(history, 1).tx).toEqual([833.3, 1000, null, 1000]);
  });

  it('has the counts of transfer times and sizes in columns of five seconds', () => {
    const history = recording();
    const sized = (size: number, count: number) => {
      const { transfers, ...rest } = agent(1, { [XFER_TIME]: Array.from({ length: count }, () => size) });
      const counts = new Float64Array([count]);
      const exponential = { scale: 4, zeroCount: 0, offset: 16 * Math.log2(size) - 1, counts };
      const transmit = { ...transfers.transmit, size: { ...transfers.transmit.size, exponential } };
      return { ...rest, transfers: { ...transfers, transmit } };
    };
    history.sample(0, [sized(16, 1)]);
    for (const [i, seconds] of [1, 2, 3, 4, 5, 6].entries()) history.sample(seconds, [sized(16, 2 + i)]);
    const { transferTimesUs, txSizes, rxSizes } = fleetOf(history);
    // 16 is the upper end of the bucket 15 at scale 2, and of the bucket 3 at scale 0.
    expect(transferTimesUs).toMatchObject({
      scale: 2,
      lowest: -1,
      offsets: [15],
      counts: [[5]],
      timesMs: times([5 - 1]),
    });
    expect(txSizes).toMatchObject({ scale: 0, offsets: [3] });
    expect(rxSizes.counts).toEqual([[]]);
  });

  it('gives only what came after a time, and forgets what is older than ten minutes', () => {
    const history = recording();
    for (let seconds = 0; seconds <= 1200; seconds += 5) history.sample(seconds, [agent(1)]);
    const { timesMs, transferTimesUs } = fleetOf(history, START_MS + 1_190_000);
    expect([timesMs, transferTimesUs.timesMs]).toEqual([times([1195, 1200]), times([1195, 1200])]);
    expect(columnsOf(history, 1, START_MS + 1_190_000)).toMatchObject({ timesMs: times([1195, 1200]), tx: [0, 0] });
    expect(columnsOf(history, 1).timesMs).toHaveLength(120);
    expect(fleetOf(history).timesMs[0]).toBe(START_MS + 605_000);
  });

  it('begins anew when the clock was set back', () => {
    const history = recording();
    for (const seconds of [0, 5, 10]) history.sample(seconds, [agent(1)]);
    for (const seconds of [2, 7]) history.sample(seconds, [agent(1)]);
    expect(fleetOf(history).timesMs).toEqual(times([7]));
  });

  it('stays while a blocked collector repeats an old snapshot', () => {
    const history = recording();
    const old = history.sample(0, [agent(1)]).snapshot;
    for (const seconds of [5, 10]) history.sample(seconds, [agent(1), agent(2)]);
    const { snapshot, agents } = history.repeat(old, 7000);
    expect(snapshot).toMatchObject({ takenMs: START_MS + 10_000, collector: { sinceTickMs: 7000 } });
    expect(agents).toHaveLength(2);
    expect(fleetOf(history).timesMs).toEqual(times([0, 5, 10]));
  });
});

describe('recent transfer times', () => {
  it.each([
    [5000, 8],
    [4999, undefined],
  ])('count all of an agent that began with their time, at %d ms, not earlier: p50 %s', (startedMs, p50) => {
    const history = recording();
    for (const seconds of [0, 5]) history.sample(seconds, []);
    const about = { startTimeMs: START_MS + startedMs };
    const { agents } = history.sample(10, [agent(1, { [XFER_TIME]: [8] }, about)]);
    expect(history.recorder.record.recent.of(agents[0]!, 'transferTimesUs')?.p50).toBe(p50);
  });
});

describe('the history of an agent', () => {
  it('has points of five seconds, with the highest p99', () => {
    const history = recording();
    history.sample(0, [agent(1)]);
    const values = { [TX_BYTES]: [50], [TX_REQUESTS]: [1, 1], [XFER_TIME]: [3, 20], [ERR_BACKEND]: [1] };
    for (const seconds of [1, 2, 3, 4, 5])
      history.sample(seconds, [agent(1, values, { foundFull: 5, peakFound: 4095 })]);
    const { timesMs, ...columns } = columnsOf(history, 1);
    expect(timesMs).toEqual(times([4]));
    expect(columns).toMatchObject({
      id: 1,
      tx: [10],
      rx: [0],
      requests: [0.4],
      errors: [0.2],
      full: [1],
      fill: [1],
      p50: [3],
      p90: [20],
      p99: [20],
    });
  });

  it('forgets agents that are gone, and begins a new one with gaps', () => {
    const history = recording();
    history.sample(0, [agent(1)]);
    history.sample(5, [agent(1)]);
    history.sample(10, [agent(2, {}, { startTimeMs: START_MS + 6000 })]);
    expect([...history.recorder.record.agents.after(0).rows.keys()]).toEqual([2]);
    expect(columnsOf(history, 2).tx.at(-1)).toBe(0);
    expect(
      columnsOf(history, 2)
        .tx.slice(0, -1)
        .every((value) => value === null),
    ).toBe(true);
  });

  it('has fewer points with many agents, and keeps the sums of what it merges', () => {
    expect([1, 128, 129, 256, 512, 1024, 2048, 100_000].map(pointsFor)).toEqual([120, 120, 60, 60, 30, 15, 7, 7]);
    const history = recording();
    const fleet = (count: number, bytes: number) =>
      Array.from({ length: count }, (_, i) => agent(i + 1, { [TX_BYTES]: [bytes] }));
    for (let i = 0; i <= 8; i++) history.sample(5 * i, fleet(2, 100 * i * i));
    const before = columnsOf(history, 1).tx;
    for (let i = 9; i <= 14; i++) history.sample(5 * i, fleet(129, 100 * i * i));
    const { tx, timesMs } = columnsOf(history, 1);
    const steps = timesMs.slice(1).map((timeMs, i) => (timeMs - timesMs[i]!) / 1000);
    expect(Math.max(...steps)).toBe(10);
    expect(timesMs.length).toBeLessThan(before.length + 3);
    // The last value of each merged pair of points: bytes per second over both.
    const bytesAt = (timeMs: number): number => 100 * ((timeMs - START_MS) / 5000) ** 2;
    for (const [i, timeMs] of timesMs.entries()) {
      const sinceMs = timesMs[i - 1];
      if (sinceMs === undefined) continue;
      expect(tx[i]).toBe(rounded((bytesAt(timeMs) - bytesAt(sinceMs)) / ((timeMs - sinceMs) / 1000)));
    }
  });
});

it('makes an answer of at most a megabyte about as many busy agents as have all points', () => {
  const history = recording();
  const busy = (id: number, seconds: number) => {
    // Numbers of four digits, as rates have them.
    const bytes = Math.floor(1_234_567 * seconds * id + 7919 * seconds * seconds);
    const time = 200 + Math.floor((id * 7919 + seconds * 104_729) % 9001);
    const about = { peakFound: Math.floor(seconds * 31 * id) % 4000, memoryInUse: 20_400_000_000n };
    return agent(
      id,
      {
        [TX_BYTES]: [bytes],
        [RX_BYTES]: [3 * bytes],
        [TX_REQUESTS]: [Math.floor(seconds * (97 + id))],
        [XFER_TIME]: [time],
      },
      about,
    );
  };
  const ids = Array.from({ length: AGENTS_WITH_ALL_POINTS }, (_, i) => i + 1);
  // A timer is never on time, so that rates are no whole numbers.
  for (let seconds = 0; seconds <= 606; seconds += 5.003)
    history.sample(
      seconds,
      ids.map((id) => busy(id, seconds)),
    );
  const { timesMs, rows } = history.recorder.record.agents.after(0);
  expect(timesMs).toHaveLength(120);
  const agents = [...rows].map(([id, row]) => agentColumns(id, row));
  const bytes = JSON.stringify({ ...fleetOf(history), agentTimesMs: timesMs, agents }).length;
  expect(bytes).toBeLessThanOrEqual(1_000_000);
  expect(bytes).toBeGreaterThan(500_000);
});

it('has the same history of an idle fleet, whose snapshot stays the same, as of one that is read anew', async () => {
  const histories = [recording(), recording()];
  const busy = { [TX_BYTES]: [5], [XFER_TIME]: [9], [ERR_BACKEND]: [1] };
  const fleets = [
    [agent(1), agent(2)],
    [agent(1, busy, { foundFull: 1, peakFound: 9, memoryInUse: 7n }), agent(2)],
  ];
  for (let seconds = 0; seconds <= 90; seconds += 5) {
    const agents = fleets[seconds < 10 ? 0 : 1]!;
    await histories[0]!.take(seconds, agents);
    await histories[1]!.take(seconds, [...agents]);
  }
  const [idle, anew] = histories.map((history) => ({
    fleet: fleetOf(history),
    agents: [1, 2].map((id) => columnsOf(history, id)),
    present: history.sample(95, fleets[1]!).troubles,
  }));
  expect(idle!.fleet.fleet.tx.filter((tx) => tx! > 0)).toEqual([1]);
  expect(idle).toEqual(anew);
});

it('drops a sample that a request overtook', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const history = recording();
  history.sample(0, [agent(1)]);
  vi.advanceTimersByTime(5000);
  await history.take(5, [agent(1, { [TX_BYTES]: [50] })], () => {
    history.sample(6, [agent(1, { [TX_BYTES]: [60] })]);
  });
  vi.advanceTimersByTime(5000);
  await history.take(11, [agent(1, { [TX_BYTES]: [110] })]);
  const { timesMs, fleet } = fleetOf(history);
  expect([timesMs, fleet.tx]).toEqual([times([0, 6, 11]), [0, 10, 10]]);
});

it('lists restarts and ends of agents for ten minutes', () => {
  const history = recording();
  history.sample(0, [agent(1), agent(2)]);
  history.sample(5, [agent(1, {}, { restarts: 1 }), agent(2, {}, { life: 'dead' })]);
  history.sample(10, [agent(1, {}, { restarts: 1 })]);
  const { events } = fleetOf(history);
  expect(events).toEqual([
    { kind: 'restarted', timeMs: START_MS + 5000, id: 1, name: 'agent-1' },
    { kind: 'ended', timeMs: START_MS + 5000, id: 2, name: 'agent-2', transferring: false },
  ]);
  expect(fleetOf(history, START_MS + 5000).events).toEqual([]);
  const still = [agent(1, {}, { restarts: 1 })];
  history.sample(604.9, still);
  expect(fleetOf(history).events).toHaveLength(2);
  history.sample(606, still);
  expect(fleetOf(history).events).toEqual([]);
});

it('finds an end during transfers in samples that a timer takes', () => {
  const history = recording();
  const about = { memoryInUse: 4096n };
  history.sample(0, [agent(1, { [TX_REQUESTS]: [1] }, about)]);
  history.sample(5, [agent(1, { [TX_REQUESTS]: [1, 1] }, about)]);
  history.sample(10, [agent(1, { [TX_REQUESTS]: [1, 1] }, { ...about, life: 'dead' })]);
  const end = { id: 1, name: 'agent-1', endedMs: START_MS + 10_000, transferring: true };
  expect(history.recorder.record.ends.ended).toMatchObject([end]);
});

describe('an agent that ended and is no longer exported', () => {
  const dead = (id: number, about: Partial<AgentSnapshot> = {}) =>
    agent(id, { [ERR_BACKEND]: [1], [XFER_TIME]: [7] }, { life: 'dead', ...about });

  it('stays for an hour as it was, without its histograms, after the exported ones', () => {
    const history = recording();
    history.sample(0, [agent(1), agent(2)]);
    history.sample(5, [dead(1), agent(2)]);
    history.sample(40, [agent(2)]);
    const { agents, snapshot } = history.sample(3604, [agent(2)]);
    expect(snapshot.agents.map(({ id }) => id)).toEqual([2]);
    expect(agents.map(({ id }) => id)).toEqual([2, 1]);
    expect(agents[1]).toMatchObject({ name: 'agent-1', life: 'dead', transferTimesUs: undefined });
    expect(history.recorder.record.ends.endedMs(1)).toBe(START_MS + 5000);
    expect(history.sample(3605, [agent(2)]).agents.map(({ id }) => id)).toEqual([2]);
  });

  it('has its failures for a minute', () => {
    const history = recording();
    history.sample(0, [agent(1)]);
    history.sample(5, [dead(1)]);
    expect(history.sample(40, []).troubles.get(1)!.errors).toMatchObject({ count: 1, sinceMs: START_MS + 5000 });
    expect(history.sample(66, []).troubles.get(1)).toEqual({});
    expect(history.recorder.record.troubles.failedMs(1)).toBe(START_MS + 5000);
  });

  it('gives way to a new agent in its ring', () => {
    const history = recording();
    const place = { agent: 'a', directory: '/d' };
    for (const [i, seconds] of [0, 100, 200].entries()) {
      history.sample(seconds, [agent(i, {}, place)]);
      history.sample(seconds + 5, [dead(i, place)]);
      expect(history.sample(seconds + 40, []).agents.map(({ id }) => id)).toEqual([i]);
    }
    expect(history.sample(300, [agent(9, {}, place)]).agents.map(({ id }) => id)).toEqual([9]);
    expect(history.recorder.record.ends.ended).toHaveLength(3);
  });

  it('was seen to end: one of unknown life is forgotten, and one that goes at once is not', () => {
    const history = recording();
    history.sample(0, [agent(1, {}, { life: 'unknown' }), agent(2)]);
    expect(history.sample(5, []).agents).toMatchObject([{ id: 2, life: 'dead' }]);
  });

  it('leaves the history of the others as it is', () => {
    const history = recording();
    history.sample(0, [agent(1, {}, { memoryInUse: 7n }), agent(2)]);
    history.sample(5, [dead(1, { memoryInUse: 7n }), agent(2)]);
    history.sample(10, [agent(2)]);
    expect(fleetOf(history).fleet.memory).toEqual([7, 7, 0]);
  });
});

it('repeats no point while the collector thread is blocked and the snapshot stays the same', () => {
  const history = recording();
  for (const seconds of [0, 5, 5, 5]) history.sample(seconds, [agent(1, { [TX_BYTES]: [seconds] })]);
  expect(fleetOf(history).timesMs).toEqual(times([0, 5]));
  expect(snapshotAt(5, []).takenMs).toBe(START_MS + 5000);
});

it('keeps the newest points, in the memory that it began with', () => {
  const points = new KeptPoints(3, 2);
  for (let i = 1; i <= 5; i++) points.add(i, [i, NaN]);
  points.add(6);
  const places = points.after(3);
  expect(points.times(places)).toEqual([4, 5, 6]);
  expect([points.column(places, 0), points.column(places, 1)]).toEqual([
    [4, 5, null],
    [null, null, null],
  ]);
  expect(points.after(6)).toEqual([]);
});

it.each([
  [0, 0],
  [123.456, 123.5],
  [0.000123456, 0.0001235],
  [33_612_345_678, 33_610_000_000],
  [99_999, 100_000],
])('rounds %d to %d', (value, expected) => expect(rounded(value)).toBe(expected));
