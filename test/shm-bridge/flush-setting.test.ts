/** The flush interval of a process's variables counts before a ring has had enough flushes to show it. */
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RingTotals } from '../../src/top/ring-totals.js';
import { openTestSource, temporaryDirectory } from '../support/live.js';
import { RingProcess } from '../support/ring-process.js';

it.each([
  [{ NIXL_TELEMETRY_RUN_INTERVAL: '60000' }, 60_000],
  [{ NIXL_TELEMETRY_RUN_INTERVAL: '1min' }, undefined],
  [{}, undefined],
])('of a process with %j is %s', async (variables: Record<string, string>, expected) => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'agent');
  const agent = new RingProcess(variables);
  await agent.write({ path: file, wireVersion: 4, events: [{ type: 0, value: 1 }] });

  const source = openTestSource([directory]);
  await expect.poll(() => source.snapshot().agents[0]?.pid).toBe(agent.pid);
  expect(source.snapshot().agents[0]!.flushIntervalMs).toBe(expected);

  const totals = new RingTotals(file, 1, { agent: 'agent' });
  onTestFinished(() => totals.close());
  totals.setWriters([agent.pid], 0);
  expect(totals.totals(0).flushIntervalMs).toBe(expected);
});
