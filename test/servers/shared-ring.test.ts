/** Two agents of one name in one directory, as NIXL's agents are: no lock keeps them apart. All reports name both. */
import { expect, test } from 'vitest';
import type { AgentsAnswer } from '../../src/view/answers/answer.js';
import type { ServedAgent } from '../../src/view/model/agent-model.js';
import { verdictInput } from '../../src/view/answers/verdict-input.js';
import { verdictOf } from '../../src/view/verdict/verdict.js';
import { run, scrape, start, startTransferSource, until, valueOf } from '../cli/command.js';
import { diagnose } from '../cli/doctor/doctor.js';
import { temporaryDirectory } from '../support/live.js';

const AGENT = ['--name', 'ObjAgent', '--exact-name', '--unlocked', '--seconds', '0', '--rate', '200', '--copy-free'];

async function answerOf(url: string): Promise<AgentsAnswer<ServedAgent>> {
  return (await (await fetch(new URL('/api/v1/agents', url))).json()) as AgentsAnswer<ServedAgent>;
}

/** What the page says about the data. It calls an agent of this name by its engine. */
async function sentences(url: string): Promise<string[]> {
  const { findings } = verdictOf(verdictInput(await answerOf(url), { name: 'host' }));
  return findings.filter(({ kind }) => kind === 'incomplete').map(({ sentence }) => sentence);
}

test('two agents of one name are named everywhere, and their sums stay marked', { timeout: 120_000 }, async () => {
  const directory = temporaryDirectory();
  const startServe = async () => {
    const serve = start(['serve', '--dir', directory, '--port', '0']);
    const [url] = await serve.says(/http:\S+metrics/);
    return { serve, url, value: async (name: string) => valueOf(await scrape(url), name) };
  };
  const first = startTransferSource(['--dir', directory, ...AGENT]);
  const { serve, url, value } = await startServe();
  await until(async () => (await value('nixl_ring_writers')) === 1);
  const second = startTransferSource(['--dir', directory, ...AGENT]);
  const pids = [first.child.pid!, second.child.pid!].sort((a, b) => a - b);

  await until(async () => (await value('nixl_ring_writers')) === 2);
  // From ten seconds on it is no restart.
  await until(async () => (await value('nixl_ring_suspect')) === 1);
  await serve.says(/several processes write ring .*ObjAgent, now \d+, \d+, so its numbers may be wrong/);
  const { agents } = await answerOf(url);
  expect(agents.map(({ writers, suspect }) => [writers!.toSorted((a, b) => a - b), suspect])).toEqual([[pids, true]]);
  // On a slow machine the ring may have been full, too.
  expect(await sentences(url)).toContainEqual(
    expect.stringMatching(
      /^vllm tier: processes \d+ and \d+ can write its ring, seen since .*, so its numbers may be wrong$/,
    ),
  );
  const top = await run(['top', '--dir', directory, '--once']);
  expect(top.stderr).toMatch(/\d+ and \d+ can write ObjAgent: one directory or name for each/);
  const text = await run(['list', '--dir', directory]);
  expect(text.stdout).toMatch(/ready, held, 2 writers: \d+ \d+/);
  const listed = JSON.parse((await run(['list', '--dir', directory, '--json'])).stdout) as { writers: number[] };
  expect(listed.writers.sort((a, b) => a - b)).toEqual(pids);
  const { findings } = await diagnose(['--dir', directory]);
  const shared = findings.find(({ finding }) => finding === 'ring-shared')!;
  expect(shared.status).toBe('problem');
  for (const pid of pids) expect(shared.what).toContain(`process ${pid}`);
  expect(findings.filter(({ finding }) => finding === 'no-ring-of-process')).toEqual([]);

  await second.stop('SIGKILL');
  await until(async () => (await value('nixl_ring_writers')) === 1);
  expect(await value('nixl_ring_suspect')).toBe(1);
  await serve.stop();
  const again = await startServe();
  await until(async () => (await again.value('nixl_ring_writers')) === 1);
  expect(await again.value('nixl_ring_suspect')).toBe(1);
  await again.serve.says(/several processes write ring .*ObjAgent, so its numbers may be wrong/);
  expect(await sentences(again.url)).toEqual([
    'vllm tier: several processes have written its ring, so its sums may be wrong',
  ]);
  await again.serve.stop();
  await first.stop();
});
