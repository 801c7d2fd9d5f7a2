/** Peeks at the totals, which the history of serve takes: they are no metric reader. */
import { setImmediate } from 'node:timers/promises';
import { diag } from '@opentelemetry/api';
import { expect, it, onTestFinished } from 'vitest';
import { SourceFeed } from '../../src/instrumentation/feed/snapshot-feed.js';
import { TimeSlices } from '../../src/ground/time-slices.js';
import type { AgentSnapshot } from '../../src/ground/tally.js';
import { startTransferSource } from '../cli/command.js';
import { openTestSource, temporaryDirectory } from '../support/live.js';
import { until } from '../support/until.js';

it('a dead agent does not wait for the next peek in slices', async () => {
  const directory = temporaryDirectory();
  const feed = new SourceFeed(openTestSource([directory], { deadTtlMs: 0 }), diag);
  onTestFinished(() => feed.close());
  const agent = startTransferSource(['--dir', directory, '--agents', '1', '--seconds', '0']);
  await until(() => feed.peek()!.agents[0]?.life === 'alive');
  expect((await feed.peekInSlices(new TimeSlices()))!.agents).toHaveLength(1);
  await agent.stop();
  await until(() => feed.peek()!.agents.length === 0);
});

it('agents are prepared before a peek or a collect in slices has them', async () => {
  const directory = temporaryDirectory();
  const prepared: string[][] = [];
  const prepare = async (agents: readonly AgentSnapshot[], slices: TimeSlices): Promise<void> => {
    await slices.turn();
    await setImmediate(); // a feed that does not wait has its snapshot before
    prepared.push(agents.map(({ agent }) => agent));
  };
  const feed = new SourceFeed(openTestSource([directory]), diag, { prepare });
  onTestFinished(() => feed.close());
  startTransferSource(['--dir', directory, '--agents', '1', '--seconds', '0']);
  await until(() => feed.peek()!.agents.length === 1);
  const reader = {};
  feed.join(reader);
  const names = (await feed.peekInSlices(new TimeSlices()))!.agents.map(({ agent }) => agent);
  expect(prepared).toEqual([names]);
  await feed.collect(reader, { slices: new TimeSlices() });
  expect(prepared).toEqual([names, names]);
});
