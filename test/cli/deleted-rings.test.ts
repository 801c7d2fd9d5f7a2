/** Rings that are deleted while their agents write them: serve counts on and says what its end loses, doctor says the same. */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { AgentsAnswer } from '../../src/view/answers/answer.js';
import type { ServedAgent } from '../../src/view/model/agent-model.js';
import { verdictInput } from '../../src/view/answers/verdict-input.js';
import { levelOf } from '../../src/view/verdict/shapes.js';
import { verdictOf } from '../../src/view/verdict/verdict.js';
import { RingProcess } from '../support/ring-process.js';
import { type RunningCommand, scrape, start, temporaryDirectory, until, valueOf } from './command.js';
import { diagnose, nixlLibraries, troubles } from './doctor/doctor.js';

const ONE_BYTE = { wireVersion: 4, events: [{ type: 0, value: 1 }] };

class Serve {
  readonly command: RunningCommand;
  readonly url: string;

  static async of(directory: string): Promise<Serve> {
    const command = start(['serve', '--dir', directory, '--port', '0', '--dead-ttl', '1000']);
    return new Serve(command, (await command.says(/serves (http:\S+) from/))[1]!);
  }

  private constructor(command: RunningCommand, url: string) {
    this.command = command;
    this.url = url;
  }

  at(place: string): Promise<string> {
    return scrape(new URL(place, this.url).href);
  }

  async bytesOf(agent: string): Promise<number> {
    return valueOf(await this.at('/metrics'), 'agent_tx_bytes_total', `agent_name="${agent}"`);
  }

  async deleted(): Promise<number> {
    return valueOf(await this.at('/metrics'), 'nixl_collector_problems', 'state="deleted"');
  }
}

it('says once that rings were deleted under living agents, and counts on', async () => {
  const directory = temporaryDirectory();
  const [kept, deleted, left, ended] = ['kept', 'deleted', 'left', 'ended'].map((name) => path.join(directory, name));
  const agents = new RingProcess({ LD_PRELOAD: nixlLibraries() });
  const endedAgent = new RingProcess();
  for (const file of [kept!, deleted!, left!]) await agents.write({ path: file, ...ONE_BYTE });
  await endedAgent.write({ path: ended!, ...ONE_BYTE });
  const serve = await Serve.of(directory);
  await until(
    async () => (await serve.bytesOf('left')) === 1 && (await serve.at('/readyz')).trim() === 'ready, 4 agents',
  );
  expect(await serve.deleted()).toBe(0);
  expect(troubles(await diagnose(['--dir', directory]))).toEqual([]);

  // One process ends, and one ends an agent and lives on: their files may go.
  await agents.write({ path: left!, ...ONE_BYTE, ends: true });
  await endedAgent.kill();
  for (const file of [deleted!, left!, ended!]) rmSync(file);
  await until(async () => (await serve.deleted()) > 0);
  expect(await serve.deleted()).toBe(1);
  await agents.write({ path: deleted!, ...ONE_BYTE });
  await until(async () => (await serve.bytesOf('deleted')) === 2);

  const said = `"${deleted}" is deleted: its agent still writes it, and only this process can read it`;
  await until(async () => !(await serve.at('/readyz')).includes('4 agents'));
  const [first, ...warnings] = (await serve.at('/readyz')).trim().split('\n');
  expect(first).toMatch(/^ready, \d agents$/);
  expect(warnings).toEqual([`warning: ${said}; start the agent again before this process ends`]);
  await serve.command.says(/ring \S+deleted is deleted: its agent still writes it, .* again before this process ends/);
  expect(serve.command.stderr.match(/ deleted/g)).toHaveLength(1);
  // As the page and top judge.
  const answer = JSON.parse(await serve.at('/api/v1/agents?agents=all&detail=none')) as AgentsAnswer<ServedAgent>;
  const { findings } = verdictOf(verdictInput(answer, { name: 'host' }));
  expect(findings.filter((finding) => levelOf(finding) === 'alarm')).toMatchObject([
    { word: 'Ring deleted', sentence: expect.stringContaining(`${deleted} was deleted: this serve counts`) as string },
  ]);

  const subject = `process ${agents.pid} (node)`;
  const host = await diagnose(['--dir', directory]);
  expect(troubles(host, subject)).toMatchObject([{ status: 'note', finding: 'ring-deleted' }]);
  expect(troubles(host, subject)[0]!.what).toBe(
    `writes what was deleted: ${deleted}; process ${serve.command.child.pid} (nixl-otel) counts it, and no later consumer can`,
  );

  await serve.command.stop('SIGTERM');
  await agents.write({ path: deleted!, ...ONE_BYTE });
  const after = await diagnose(['--dir', directory]);
  expect(troubles(after, subject)).toMatchObject([{ status: 'problem', finding: 'ring-deleted' }]);
  expect(after.code).toBe(1);
  const next = await Serve.of(directory);
  await until(async () => (await next.bytesOf('kept')) === 1);
  expect(await next.at('/metrics')).not.toContain('agent_name="deleted"');
});

it('says how many rings a logout has deleted with their directory', async () => {
  const directory = path.join(temporaryDirectory(), 'rings');
  const agents = new RingProcess({ NIXL_TELEMETRY_DIR: directory });
  mkdirSync(directory);
  for (let i = 0; i < 20; i++) await agents.write({ path: path.join(directory, `agent-${i}`), ...ONE_BYTE });
  const serve = await Serve.of(directory);
  await until(async () => (await serve.at('/readyz')).startsWith('ready, 20 agents'));
  rmSync(directory, { recursive: true });
  await until(async () => (await serve.deleted()) === 20);
  await serve.command.says(/20 rings are deleted, the first \S+: its agent still writes it/);
  expect((await diagnose(['--pid', String(agents.pid)])).findings).toContainEqual(
    expect.objectContaining({
      finding: 'ring-deleted',
      what: expect.stringMatching(/^writes what was deleted: \S+agent-0, .* and 17 more; process/) as string,
    }),
  );
  await agents.kill();
  await until(async () => (await serve.deleted()) === 0);
});

it('says nothing about files that libraries delete in a directory of all programs', async () => {
  const file = `/dev/shm/nixl-otel-test-${process.pid}-not-proven`;
  const agent = new RingProcess({ NIXL_TELEMETRY_DIR: '/dev/shm', LD_PRELOAD: nixlLibraries() });
  await agent.write({ path: file, ...ONE_BYTE });
  rmSync(file);
  const { findings } = await diagnose(['--pid', String(agent.pid)]);
  expect(findings.filter(({ finding }) => finding === 'ring-deleted')).toEqual([]);
});
