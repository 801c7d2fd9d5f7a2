/** Compares the tally of random events, in random drains, with a reference of a few plain lines. */
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EVENTS, tallyOptions } from '../../src/mapping/index.js';
import {
  type AgentSnapshot,
  inspectRing,
  openSource,
  RingWriter,
  type WriteEvent,
} from '../../src/shm-bridge/index.js';
import { comparable, exponentialTally } from '../support/exponential.js';
import { drainUntil, temporaryDirectory } from '../support/live.js';
import { pushAll, WIRE_VERSIONS } from '../support/rings.js';

const CUSTOM = 7;
const CAPACITY = 128;

interface Written {
  readonly type: number;
  readonly name: string;
  readonly category: number;
  readonly value: bigint;
}

/** Writes between two drains. A restart finds the ring empty, so it wipes no event. */
type Step = readonly Written[] | 'restart';

/** Returns the type of an event of the table, otherwise undefined. */
function knownType(wireVersion: number, { type, name, category }: Written): number | undefined {
  const row = wireVersion === 1 ? EVENTS.find((row) => (row.wireVersion1Name ?? row.event) === name) : EVENTS[type];
  const stored = wireVersion <= 2;
  return row !== undefined && (!stored || row.category === category) ? row.type : undefined;
}

/** Reference: the totals of each event by key. */
function reference(wireVersion: number, events: readonly Written[]) {
  const sums = new Map<string, { count: number; sum: bigint; last: bigint }>();
  for (const event of events) {
    const type = knownType(wireVersion, event);
    const category = wireVersion <= 2 ? event.category : CUSTOM;
    const key = type === undefined ? `${category} ${wireVersion === 1 ? event.name : event.type}` : `type ${type}`;
    const before = sums.get(key) ?? { count: 0, sum: 0n };
    sums.set(key, { count: before.count + 1, sum: before.sum + event.value, last: event.value });
  }
  return sums;
}

/** Totals of a snapshot by key, without keys that were not seen. */
function counted({ events }: AgentSnapshot) {
  const seen = events.filter(({ count }) => count > 0);
  return new Map(
    seen.map(({ known, category, type, name, count, sum, last }) => [
      known ? `type ${type}` : `${category} ${name ?? type}`,
      { count, sum, last },
    ]),
  );
}

const TIME = 6;
const POST_TIME = 7;
const REGISTERED = 4;
const DEREGISTERED = 5;

/** Transfers by direction: a duration, its bytes and one request, consecutively. */
function transfersIn(types: readonly (number | undefined)[], values: readonly bigint[]) {
  const found = [
    { count: 0, bytes: 0n, us: 0n },
    { count: 0, bytes: 0n, us: 0n },
  ];
  for (let i = 0; i + 2 < types.length; i++) {
    const direction = types[i + 1]!;
    if (types[i] !== TIME || !(direction === 0 || direction === 1)) continue;
    if (types[i + 2] !== direction + 2 || values[i + 2] !== 1n) continue;
    const sums = found[direction]!;
    sums.count++;
    sums.us += values[i]!;
    sums.bytes += values[i + 1]!;
  }
  return found;
}

/** Index of the power of two above which a class begins; 9 for the smallest class, 30 for that without a bound. */
function classOf(bytes: bigint): number {
  return Math.min(30, Math.max(9, (bytes === 0n ? 0n : bytes - 1n).toString(2).length - 1));
}

/** Transfers of one direction by class. Posts: of agents that write them directly before the time. */
function classesIn(types: readonly (number | undefined)[], values: readonly bigint[], direction: number) {
  const found = new Map<number, { transfers: number; bytes: bigint; us: bigint[]; postsUs: bigint[] }>();
  for (let i = 0; i + 2 < types.length; i++) {
    if (types[i] !== TIME || types[i + 1] !== direction) continue;
    if (types[i + 2] !== direction + 2 || values[i + 2] !== 1n) continue;
    const index = classOf(values[i + 1]!);
    const one = found.get(index) ?? { transfers: 0, bytes: 0n, us: [], postsUs: [] };
    found.set(index, one);
    one.transfers++;
    one.bytes += values[i + 1]!;
    one.us.push(values[i]!);
    if (types[i - 1] === POST_TIME) one.postsUs.push(values[i - 1]!);
  }
  return [...found].sort(([a], [b]) => a - b);
}

/** Returns the nearest double that is in the same bucket: not one at a bound below the value. */
function asDouble(value: bigint): number {
  const nearest = Number(value);
  return BigInt(nearest) < value ? nearest * (1 + Number.EPSILON) : nearest;
}

const sumOf = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);

function expectClasses(
  { timeBySize }: AgentSnapshot,
  of: readonly ReturnType<typeof classesIn>[],
  posts: boolean,
): void {
  for (const [direction, { classes }] of [timeBySize!.transmit, timeBySize!.receive].entries()) {
    const expected = of[direction]!;
    expect(classes.map(({ upToBytes, count, bytes, duration }) => [upToBytes, count, bytes, duration.sum])).toEqual(
      expected.map(([index, { transfers, bytes, us }]) => {
        return [index === 30 ? Infinity : 2 ** (index + 1), transfers, bytes, sumOf(us)];
      }),
    );
    for (const [i, { duration, post }] of classes.entries()) {
      const { us, postsUs } = expected[i]![1];
      expect(comparable(duration.exponential)).toEqual(comparable(exponentialTally(us.map(asDouble))));
      if (!posts) continue;
      expect(post.sum).toBe(sumOf(postsUs));
      expect(comparable(post.exponential)).toEqual(comparable(exponentialTally(postsUs.map(asDouble))));
    }
  }
}

/** Registered minus deregistered since the last restart, and never below 0. */
function memoryIn(lives: readonly (readonly Written[])[], wireVersion: number): bigint {
  let inUse = 0n;
  for (const event of lives.at(-1)!) {
    const type = knownType(wireVersion, event);
    if (type === REGISTERED) inUse += event.value;
    if (type === DEREGISTERED) inUse = inUse > event.value ? inUse - event.value : 0n;
  }
  return inUse;
}

function bucketsOf(bounds: readonly number[], values: readonly bigint[]): number[] {
  const counts = new Array<number>(bounds.length + 1).fill(0);
  for (const value of values) {
    const bucket = bounds.findIndex((bound) => value <= BigInt(Math.floor(bound)));
    counts[bucket === -1 ? bounds.length : bucket]!++;
  }
  return counts;
}

const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0n, 1n, 1n, 1n, 2n, 10n, 11n, 99n, 100n, 1000n, 2n ** 53n + 1n, 2n ** 63n) },
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
);
const type = fc.oneof({ weight: 9, arbitrary: fc.nat(EVENTS.length + 1) }, fc.nat(2 ** 32 - 1));
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...EVENTS.map((row) => row.wireVersion1Name ?? row.event)) },
  fc.string({ unit: fc.constantFrom(...'ab_:"\\ {}\n'), maxLength: 31 }),
);
const event = fc.record({ type, name, category: fc.integer({ min: -2, max: 9 }), value });
/** Events as agents write them, with the category of their type: single ones, and whole transfers. */
const usual = (type: number, value: bigint): Written => {
  const { wireVersion1Name, event, category } = EVENTS[type]!;
  return { type, name: wireVersion1Name ?? event, category, value };
};
const known = fc.tuple(fc.nat(EVENTS.length - 1), value).map(([type, value]) => [usual(type, value)]);
const transfer = fc
  .tuple(fc.nat(1), value, value, fc.boolean())
  .map(([direction, us, bytes, posted]) => [
    ...(posted ? [usual(POST_TIME, us)] : []),
    usual(TIME, us),
    usual(direction, bytes),
    usual(direction + 2, 1n),
  ]);
const burst = fc
  .array(
    fc.oneof(
      known,
      transfer,
      transfer,
      event.map((one) => [one]),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.flat().slice(0, CAPACITY - 2));
const step = fc.oneof({ weight: 6, arbitrary: burst }, fc.constant<Step>('restart'));

test('counts, sums, last values, durations, transfers and memory equal the reference', () => {
  const tally = tallyOptions();
  const run = (wireVersion: number, steps: readonly Step[]): void => {
    // One directory per run: close() returns after 100 ms although the thread may still have the last run's ring. A new file at
    // the path of that ring would be a restart.
    const directory = temporaryDirectory();
    const file = path.join(directory, 'agent');
    const open = () => new RingWriter(file, { wireVersion, capacity: CAPACITY });
    let writer = open();
    const source = openSource({ directories: [directory], tally });
    const lives: Written[][] = [[]];
    try {
      const isAttached = () => inspectRing(file).consumed === true;
      // A restart before the collector has counted the last one would look like one restart.
      const hasCountedRestarts = () => source.snapshot().agents[0]!.restarts >= lives.length - 1;
      drainUntil(source, isAttached);
      for (const step of steps) {
        if (step === 'restart') {
          writer.close();
          writer = open();
          lives.push([]);
        } else {
          pushAll(writer, step as readonly WriteEvent[]);
          lives.at(-1)!.push(...step);
        }
        drainUntil(source, () => isAttached() && writer.pending === 0 && hasCountedRestarts());
      }
      const agent = source.snapshot().agents[0]!;
      const events = lives.flat();
      expect(counted(agent)).toEqual(reference(wireVersion, events));
      expect(agent).toMatchObject({ restarts: lives.length - 1, suspect: false, foundFull: 0 });
      const types = lives.map((life) => [...life.map((one) => knownType(wireVersion, one)), undefined]).flat();
      const values = lives.map((life) => [...life.map(({ value }) => value), 0n]).flat();
      const { transmit, receive } = agent.transfers;
      expect(
        [transmit, receive].map(({ count, size, duration }) => ({ count, bytes: size.sum, us: duration.sum })),
      ).toEqual(transfersIn(types, values));
      for (const duration of [TIME, POST_TIME]) {
        const durations = values.filter((_, i) => types[i] === duration);
        expect(agent.events[duration]!.histogram!.counts).toEqual(bucketsOf(tally.durationBoundsUs, durations));
      }
      expect(agent.timeBySize).toBeUndefined();
      const bySize = [0, 1].map((direction) => classesIn(types, values, direction));
      expectClasses(source.snapshot({ sizeClasses: true }).agents[0]!, bySize, wireVersion >= 4);
      expect(agent.memoryInUse).toBe(memoryIn(lives, wireVersion));
    } finally {
      writer.close();
      source.close();
    }
  };
  fc.assert(fc.property(fc.constantFrom(...WIRE_VERSIONS), fc.array(step, { maxLength: 8 }), run), { numRuns: 100 });
});
