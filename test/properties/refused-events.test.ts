/** Compares the bound of refused events with agents that count what their rings refuse, under overload. */
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { metricsOf, PRESETS, tallyOptions } from '../../src/mapping/index.js';
import { type AgentSnapshot, openSource, type RingSource } from '../../src/shm-bridge/index.js';
import { allDrained, runTransferSource, temporaryDirectory } from '../support/live.js';
import { until } from '../support/until.js';

const sources = new Set<RingSource>();

afterEach(() => {
  for (const source of sources) source.close();
});

function open(directory: string, state = false): RingSource {
  const source = openSource({ directories: [directory], tally: tallyOptions(), state });
  sources.add(source);
  return source;
}

const LOST = metricsOf('nixl', { builders: PRESETS.standard.builders }).find(({ name }) => name === 'nixl.ring.lost')!;

const lostOf = (agent: AgentSnapshot): number => Number(LOST.points[0]!.read(agent, 0));

test('a default ring under overload: at least one event in each flush that was cut', async () => {
  const directory = temporaryDirectory();
  const source = open(directory);
  const flags = ['--dir', directory, '--agents', '2', '--rate', '0', '--copy-free', '--seconds', '0.6'];
  const { agents } = await runTransferSource(flags);
  await allDrained(directory);
  const found = source.snapshot().agents;
  for (const { agent, refused, dropped } of agents) {
    const counted = found.find(({ agent: name }) => name === agent)!;
    expect(counted.refused).toBeGreaterThan(0);
    expect(counted.refused).toBeLessThanOrEqual(refused);
    expect(lostOf(counted)).toBeLessThanOrEqual(refused + dropped);
  }
});

test('never more than the rings refused and the agents dropped', { timeout: 300_000 }, async () => {
  let refusedInAll = 0;
  const flags = fc.record({
    'wire-version': fc.constantFrom(1, 2, 3, 4, 4, 4, 5),
    'buffer-size': fc.integer({ min: 1, max: 13 }).map((bits) => 2 ** bits),
    staging: fc.integer({ min: 1, max: 9000 }),
    'flush-interval': fc.integer({ min: 1, max: 60 }),
    rate: fc.constantFrom(0, 0, 2000, 50_000),
    reads: fc.constantFrom(0, 25, 100),
    errors: fc.constantFrom(0, 1, 30),
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
    'restart-every': fc.constantFrom(0, 0, 70),
  });
  const run = async (given: Record<string, number>): Promise<void> => {
    const directory = temporaryDirectory();
    const source = open(directory);
    const { 'restart-every': restartMs, ...others } = given;
    const restarts = restartMs === 0 ? {} : { 'restart-every': restartMs };
    const args = Object.entries({ ...others, ...restarts }).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
    const { totals } = await runTransferSource(['--dir', directory, '--copy-free', '--seconds', '0.2', ...args]);
    await allDrained(directory);
    const agent = source.snapshot().agents[0];
    source.close();
    if (agent === undefined) return; // the agent was too short
    expect(agent.refused).toBeLessThanOrEqual(totals.refused);
    expect(lostOf(agent)).toBeLessThanOrEqual(totals.refused + totals.dropped);
    refusedInAll += agent.refused;
  };
  // Not every draw has an overload.
  const ring = { 'wire-version': 4, 'buffer-size': 4096, staging: 9000, 'flush-interval': 20 };
  const overload = { ...ring, rate: 0, reads: 25, errors: 0, 'restart-every': 0 };
  await fc.assert(fc.asyncProperty(flags, run), {
    numRuns: 12,
    examples: [[{ ...overload, seed: 1 }], [{ ...overload, seed: 2 }], [{ ...overload, seed: 3 }]],
  });
  expect(refusedInAll).toBeGreaterThan(0);
});

test('the bound goes on over starts of a consumer with state', async () => {
  const directory = temporaryDirectory();
  const ended = runTransferSource(['--dir', directory, '--rate', '0', '--copy-free', '--seconds', '1']);
  let isRunning = true;
  const hasEnded = (): void => void (isRunning = false);
  ended.then(hasEnded, hasEnded); // the test awaits it below
  let refused = 0;
  while (isRunning) {
    const source = open(directory, true);
    await until(() => !isRunning || (source.snapshot().agents[0]?.refused ?? 0) > refused);
    const now = source.snapshot().agents[0]?.refused ?? refused;
    expect(now).toBeGreaterThanOrEqual(refused);
    refused = now;
    source.close();
  }
  const { totals } = await ended;
  const last = open(directory, true);
  await allDrained(directory);
  await until(() => (last.snapshot().agents[0]?.refused ?? -1) >= refused);
  expect(last.snapshot().agents[0]!.refused).toBeLessThanOrEqual(totals.refused);
});
