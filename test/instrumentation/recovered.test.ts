/** Agents that continue the counts of an earlier process: deltas, gains of builders, problems and the log. */
import type { DataPoint, ExponentialHistogram, Histogram } from '@opentelemetry/sdk-metrics';
import { beforeEach, expect, it } from 'vitest';
import { AgentAttributes } from '../../src/instrumentation/agents/agent-attributes.js';
import { EventDirectory } from '../../src/instrumentation/builders/event-directory.js';
import { DiagOnce } from '../../src/instrumentation/feed/diag-once.js';
import { SourceFeed } from '../../src/instrumentation/feed/snapshot-feed.js';
import { hrTimeOf } from '../../src/instrumentation/producer/metric-data.js';
import { AttributeRegistry } from '../../src/mapping/index.js';
import type { AgentSnapshot, TransferTally } from '../../src/ground/tally.js';
import { TimeSlices } from '../../src/ground/time-slices.js';
import { agentSnapshot, eventTally, histogramOf, InMemorySource, START_MS } from './in-memory-source.js';
import { pointsIn, producerOn, valuesOf } from './readers.js';

const PROCESS_START = hrTimeOf(performance.timeOrigin);
const CUSTOM = { type: 77, category: 7 };

const SILENT = { error() {}, warn() {}, info() {}, debug() {}, verbose() {} };

let source: InMemorySource;
beforeEach(() => {
  source = new InMemorySource();
});

const BOUNDS = [10, 1000];

function transfers(sizes: readonly number[]): TransferTally {
  const sum = BigInt(sizes.reduce((all, size) => all + size, 0));
  return {
    count: sizes.length,
    size: { ...histogramOf(BOUNDS, sizes), sum },
    duration: { ...histogramOf(BOUNDS, sizes), sum },
    throughput: { ...histogramOf(BOUNDS, sizes), sum: Number(sum) },
  };
}

/** An agent after `n` times everything: n transfers, n unknown events, n restarts. */
function agentAfter(n: number, about: Partial<AgentSnapshot> = {}): AgentSnapshot {
  const times = <T>(value: T): T[] => Array.from({ length: n }, () => value);
  return agentSnapshot(
    {
      id: 1,
      agent: 'a',
      recovered: true,
      memoryInUse: 50n,
      foundFull: n,
      foundFullMs: 1000 * n,
      restarts: n,
      resyncs: n,
      foreignMoves: n,
      refused: n,
      transfers: { transmit: transfers(times(20)), receive: transfers(times(5)) },
      ...about,
    },
    { 0: times(100n), 6: times(30n) },
    [eventTally(CUSTOM, times(3n))],
  );
}

it('the first delta of a recovered agent begins at what earlier processes counted, and at the start of this one', async () => {
  const explicit = producerOn(source, { temporality: 'delta' });
  const exponential = producerOn(source, { temporality: 'delta', histograms: 'exponential' });
  source.recovered.set(1, agentAfter(3));
  source.agents = [agentAfter(5)];
  const result = await explicit.collect();
  const [sum] = pointsIn(result, 'agent_tx_bytes_total');
  expect(sum).toMatchObject({ value: 200, startTime: PROCESS_START, endTime: hrTimeOf(source.takenMs) });
  const [time] = pointsIn(result, 'agent_xfer_time_us') as DataPoint<Histogram>[];
  expect(time).toMatchObject({ value: { count: 2, sum: 60 }, startTime: PROCESS_START });
  const [size] = pointsIn(result, 'nixl.transfer.size') as DataPoint<Histogram>[];
  expect(size!.value).toMatchObject({ count: 2, sum: 40, buckets: { counts: [0, 2, 0] } });
  const counters = [
    'nixl.agent.restarts',
    'nixl.ring.full',
    'nixl.ring.full_time',
    'nixl.ring.resyncs',
    'nixl.ring.foreign_moves',
    'nixl.events.unknown',
  ];
  for (const name of counters) expect(pointsIn(result, name)[0]!.value, name).toBe(2);
  expect(valuesOf(pointsIn(result, 'nixl.events'), 'event')).toMatchObject({ type_77: 2 });
  // These are no deltas.
  expect(pointsIn(result, 'nixl.memory.usage')[0]!.value).toBe(50);
  expect(pointsIn(result, 'agent_tx_last_bytes')[0]!.value).toBe(100);

  const [scaled] = pointsIn(await exponential.collect(), 'agent_xfer_time_us') as DataPoint<ExponentialHistogram>[];
  expect(scaled!.value).toMatchObject({ count: 2, sum: 60 });

  const before = hrTimeOf(source.takenMs);
  source.takenMs += 1000;
  source.agents = [agentAfter(9)];
  const [next] = pointsIn(await explicit.collect(), 'agent_tx_bytes_total');
  expect(next).toMatchObject({ value: 400, startTime: before });
});

it('an agent that is taken over later has its first delta since the last collect', async () => {
  const producer = producerOn(source, { temporality: 'delta' });
  await producer.collect();
  const before = hrTimeOf(source.takenMs);
  source.takenMs += 1000;
  source.recovered.set(1, agentAfter(3));
  source.agents = [agentAfter(5)];
  expect(pointsIn(await producer.collect(), 'agent_tx_bytes_total')[0]).toMatchObject({
    value: 200,
    startTime: before,
  });
});

it('an agent without its recovered counts has no delta until they are available', async () => {
  const producer = producerOn(source, { temporality: 'delta' });
  source.agents = [agentAfter(5)];
  expect(pointsIn(await producer.collect(), 'agent_tx_bytes_total')).toEqual([]);
  source.recovered.set(1, agentAfter(3));
  source.agents = [agentAfter(6)];
  expect(pointsIn(await producer.collect(), 'agent_tx_bytes_total')[0]!.value).toBe(300);
});

it('cumulative data continue, with the start time of the first process', async () => {
  source.recovered.set(1, agentAfter(3));
  source.agents = [agentAfter(5)];
  const [point] = pointsIn(await producerOn(source).collect(), 'agent_tx_bytes_total');
  expect(point).toMatchObject({ value: 500, startTime: hrTimeOf(START_MS) });
});

it('builders get the gains of this process only', () => {
  const registry = new AttributeRegistry();
  const log = new DiagOnce(SILENT);
  const directory = new EventDirectory(new AgentAttributes({ registry, hostname: 'h', rankVariable: 'R', log }));
  const gains = (agent: AgentSnapshot) =>
    directory.gains([agent], (id) => source.recovered.get(id)).map(({ event, count, sum }) => [event, count, sum]);
  expect(gains(agentAfter(5))).toEqual([]); // not available now
  source.recovered.set(1, agentAfter(3));
  expect(gains(agentAfter(5))).toEqual([
    ['agent_tx_bytes', 2, 200n],
    ['agent_xfer_time', 2, 60n],
    ['type_77', 2, 6n],
  ]);
  expect(gains(agentAfter(6))).toContainEqual(['agent_tx_bytes', 1, 100n]);
});

it('one line reports what was recovered, and another one what is taken over later', async () => {
  const lines: string[] = [];
  const feed = new SourceFeed(source, {
    ...SILENT,
    info: (line) => lines.push(line),
    warn: (line) => lines.push(line),
  });
  const [one, two] = [agentAfter(400, { startTimeMs: START_MS - 1000 }), agentAfter(3, { id: 2, agent: 'b' })];
  source.recovered.set(1, one).set(2, two);
  source.agents = [agentAfter(500, { startTimeMs: START_MS - 1000 }), two, agentSnapshot({ id: 3, agent: 'c' })];
  source.stateProblems = [{ path: '/r/c', reason: 'is of another boot; set aside' }];
  await feed.collect({});
  await feed.collect({});
  expect(lines).toEqual([
    'state file of ring /r/c: is of another boot; set aside',
    'recovered 2 agents with 1,209 events, counted since 2023-11-14T22:13:19.000Z; 1 state file could not be used: see the warnings',
  ]);
  source.stateProblems = [];
  source.recovered.set(4, agentAfter(1));
  source.agents.push(agentAfter(2, { id: 4, agent: 'd' }));
  feed.peek(); // may come before all rings are found
  expect(lines).toHaveLength(2);
  await feed.collect({});
  expect(lines.slice(2)).toEqual(['recovered 1 agent with 3 events, counted since 2023-11-14T22:13:20.000Z']);
  feed.close();
});

it('rings without a usable state file are counted among the problems, in the state no_state', async () => {
  source.stateProblems = [
    { path: '/r/a', reason: 'no space' },
    { path: '/r/b', reason: 'no space' },
  ];
  const problems = pointsIn(await producerOn(source).collect(), 'nixl.collector.problems');
  expect(valuesOf(problems, 'state')).toMatchObject({ no_state: 2, denied: 0, unlisted: 0 });
});

it('a collect in slices has the last totals if the source ends meanwhile', async () => {
  const feed = new SourceFeed(source, SILENT);
  const reader = {};
  feed.join(reader);
  source.agents = [agentAfter(1)];
  source.duringSlices = () => {
    source.agents = [agentAfter(2)];
    return feed.end(() => {});
  };
  const found = await feed.collect(reader, { slices: new TimeSlices() });
  expect(found?.agents).toEqual([agentAfter(2)]);
});
