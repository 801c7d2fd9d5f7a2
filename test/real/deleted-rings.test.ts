/** Rings of real agents that are deleted under them, as systemd does at a logout. */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scrape, start, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { diagnose } from '../cli/doctor/doctor.js';
import { NixlAgents } from './nixl-agents.js';
import { provideNixl } from './tools.js';

const packages = await provideNixl();

describe.skipIf(packages === undefined)('real agents without their files', () => {
  it('are counted, and serve and doctor say it', async () => {
    const directory = path.join(temporaryDirectory(), 'rings');
    mkdirSync(directory);
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    const url = (await serve.says(/serves (http:\S+) from/))[1]!;
    const progress = path.join(temporaryDirectory(), 'progress');
    const agents = await NixlAgents.start({ packages: packages!.get('1.5.1')!, directory, progress });
    const transfers = async () => valueOf(await scrape(url), 'agent_xfer_time_us_count', 'agent_name="prefill"');
    const deleted = async () => valueOf(await scrape(url), 'nixl_collector_problems', 'state="deleted"');
    agents.say('work 100');
    await agents.answer();
    await until(async () => (await transfers()) === 100);
    expect(await deleted()).toBe(0);
    rmSync(directory, { recursive: true });
    await until(async () => (await deleted()) === 2);
    agents.say('work 100');
    await agents.answer();
    await until(async () => (await transfers()) === 200);
    const { findings } = await diagnose(['--dir', directory]);
    expect(findings).toContainEqual(
      expect.objectContaining({
        finding: 'ring-deleted',
        what: expect.stringContaining(
          `${directory}/decode and ${directory}/prefill; process ${serve.child.pid}`,
        ) as string,
      }),
    );
    agents.say('finish');
    await agents.answer();
    expect(await agents.end()).toBe(0);
    await until(async () => (await deleted()) === 0);
  });
});
