/** Real NIXL agents on a tmpfs that is full: NIXL allocates no page of its rings. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scrape, start, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { fillUp, MAY_MOUNT, smallTmpfs } from '../support/small-tmpfs.js';
import { NixlAgents } from './nixl-agents.js';
import { provideNixl } from './tools.js';

const RELEASE = '1.5.1';
const packages = await provideNixl();

/** Returns the bytes that a ring has not allocated. */
function lackOf(ring: string): number {
  const { size, blocks } = lstatSync(ring);
  return Math.ceil(size / 4096) * 4096 - blocks * 512;
}

/** Agents that have begun to write their rings. */
async function startAgents(directory: string): Promise<NixlAgents> {
  const progress = path.join(temporaryDirectory(), 'progress');
  const agents = await NixlAgents.start({ packages: packages!.get(RELEASE)!, directory, progress });
  agents.say('work 20');
  await agents.answer();
  return agents;
}

/** @returns the answer of the agents, or what ended them */
const outcomeOf = (agents: NixlAgents): Promise<unknown> =>
  agents.answer().catch((error: Error) => error.message.split('\n')[0]);

describe.skipIf(packages === undefined || !MAY_MOUNT)('real agents (skipped where tests may not mount)', () => {
  it.each(['off', 'on'])('on a tmpfs that another program fills, with --allocate-pages %s', async (allocates) => {
    const directory = smallTmpfs('16m');
    const flags = ['--state', 'off', '--allocate-pages', allocates];
    const serve = start(['serve', '--dir', directory, '--port', '0', ...flags]);
    const [url] = await serve.says(/http:\S+metrics/);
    const agents = await startAgents(directory);
    await until(async () => valueOf(await scrape(url), 'nixl_collector_agents', 'life="alive"') === 2);
    const rings = ['prefill', 'decode'].map((agent) => path.join(directory, agent));
    if (allocates === 'on') await until(() => rings.every((ring) => lackOf(ring) === 0));
    fillUp(directory, 0);
    agents.say('work 600');
    const outcome = await outcomeOf(agents);
    if (allocates === 'off') expect(outcome).toBe('agents.py ended with SIGBUS:');
    else expect(outcome).toMatchObject({ 'prefill agent_tx_requests_num_total': 620 });
  });

  it('have the space that they lack, beside a serve with state', async () => {
    const directory = smallTmpfs('16m');
    const agents = await startAgents(directory);
    const ring = path.join(directory, 'prefill');
    fillUp(directory, lackOf(ring));
    const serve = start(['serve', '--dir', directory, '--port', '0', '--allocate-pages', 'off']);
    const [url] = await serve.says(/http:\S+metrics/);
    while (lackOf(ring) > 0) {
      agents.say('flood 20000');
      expect(await outcomeOf(agents)).toBeTypeOf('object');
    }
    expect(valueOf(await scrape(url), 'nixl_collector_problems', 'state="no_state"')).toBe(2);
  });
});
