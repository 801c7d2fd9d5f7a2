/** Agents that ended before serve could see their processes: they are not alive for ever. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import {
  type RunningCommand,
  scrape,
  start,
  startTransferSource,
  temporaryDirectory,
  until,
  valueOf,
} from '../cli/command.js';

/** Elsewhere serve cannot know that no process writes a ring: in a container, or beside a first process with more rights. */
const seesAll = ((): boolean => {
  try {
    readFileSync('/proc/1/maps');
    return readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]';
  } catch {
    return false;
  }
})();

async function urlOf(serve: RunningCommand): Promise<string> {
  return (await serve.says(/serves (http:\S+) from/))[1]!;
}

const openRings = ({ child }: RunningCommand, directory: string, agent: string): number =>
  readdirSync(`/proc/${child.pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${child.pid}/fd/${fd}`).startsWith(`${directory}/${agent}`);
    } catch {
      return false;
    }
  }).length;

it.skipIf(!seesAll)('an agent that ended before serve began is drained, shown as ended, and released', async () => {
  const directory = temporaryDirectory();
  const source = await startTransferSource(['--dir', directory, '--agents', '3', '--transfers', '50']).ended;
  expect(source.code).toBe(0);
  const living = new RingWriter(path.join(directory, 'living'), { wireVersion: 4, capacity: 64 });
  living.push({ type: 2, value: 1n });
  const serve = start(['serve', '--dir', directory, '--port', '0', '--dead-ttl', '3000']);
  const url = await urlOf(serve);
  await until(async () => valueOf(await scrape(url), 'nixl_collector_agents', 'life="dead"') === 3);
  const page = await scrape(url);
  expect(valueOf(page, 'agent_tx_requests_num_total') + valueOf(page, 'agent_rx_requests_num_total')).toBe(151);
  expect(valueOf(page, 'nixl_agent_up', 'agent_name="living"')).toBe(1);
  // After the time of dead agents only the writer that still lives is left, although it wrote nothing meanwhile.
  await until(async () => !/agent_name="(?!living)/.test(await scrape(url)));
  expect(openRings(serve, directory, 'agent-')).toBe(0);
  expect(openRings(serve, directory, 'living')).toBe(1);
  living.push({ type: 2, value: 1n });
  await until(async () => valueOf(await scrape(url), 'agent_tx_requests_num_total', '"living"') === 2);
  living.close();
});

it.skipIf(!seesAll)('agents that live for milliseconds leave no agent and no descriptor', async () => {
  const directory = temporaryDirectory();
  const serve = start(['serve', '--dir', directory, '--port', '0', '--dead-ttl', '500']);
  const url = await urlOf(serve);
  for (let i = 0; i < 40; i++) {
    const { code } = await startTransferSource(['--dir', directory, '--name', `short-${i}`, '--transfers', '1']).ended;
    expect(code).toBe(0);
  }
  await until(async () => !(await scrape(url)).includes('agent_name='));
  expect(openRings(serve, directory, 'short-')).toBe(0);
  expect(valueOf(await scrape(url), 'nixl_collector_agents')).toBe(0);
});
