/** The processes of agents: attributes from eight real processes, as far as each reader may see them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AttributeSpec, NixlMetricProducer } from '../../src/index.js';
import type { AgentLife } from '../../src/shm-bridge/types.js';
import { pointsIn } from '../instrumentation/readers.js';
import { dist, resultOf } from '../support/child.js';
import { temporaryDirectory, transferSourcePath } from '../support/live.js';

const ATTRIBUTES: AttributeSpec[] = [
  { name: 'pid', source: 'pid', type: 'integer' },
  { name: 'local_rank', source: 'local_rank', type: 'integer' },
  { name: 'role', source: { pattern: '^(?<role>prefill|decode)-', group: 'role' } },
  { name: 'model', source: { agentEnv: 'MODEL' }, default: 'none' },
];
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

interface AgentOptions {
  readonly env?: Record<string, string>;
  readonly uid?: number;
  readonly program?: string;
}

function startAgent(directory: string, name: string, { env = {}, uid, program }: AgentOptions = {}): ChildProcess {
  const args = [
    '--unlocked',
    '--dir',
    directory,
    '--name',
    name,
    '--exact-name',
    '--agents',
    '1',
    '--rate',
    '20',
    '--seconds',
    '300',
  ];
  const child = spawn(program ?? transferSourcePath, args, {
    stdio: 'ignore',
    env,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

interface Seen {
  readonly up: number;
  readonly pid: unknown;
  readonly rank: unknown;
  readonly role: unknown;
  readonly model: unknown;
}

async function seenBy(producer: NixlMetricProducer): Promise<Record<string, Seen>> {
  const points = pointsIn(await producer.collect(), 'nixl.agent.up');
  return Object.fromEntries(
    points.map(({ attributes: { agent_name: name, pid, local_rank: rank, role, model }, value }) => [
      String(name),
      { up: value as number, pid, rank, role, model },
    ]),
  );
}

describe('the process of each agent', () => {
  it('gives its attributes: eight at once, one killed, one restarted in another process', async () => {
    const directory = temporaryDirectory();
    const names = ['prefill', 'decode'].flatMap((role) => [0, 1, 2, 3].map((i) => `${role}-${i}`));
    const agents = new Map(
      names.map((name, rank) => [
        name,
        startAgent(directory, name, { env: { LOCAL_RANK: String(rank), MODEL: 'Llama 3' } }),
      ]),
    );
    const producer = new NixlMetricProducer({ directories: directory, attributes: ATTRIBUTES });
    onTestFinished(() => producer.close());
    const expected = Object.fromEntries(
      names.map((name, rank) => [
        name,
        { up: 1, pid: agents.get(name)!.pid, rank, role: name.split('-')[0], model: 'llama_3' },
      ]),
    );
    await expect.poll(() => seenBy(producer)).toEqual(expected);

    agents.get('decode-0')!.kill('SIGKILL');
    agents.get('decode-1')!.kill('SIGKILL');
    await expect.poll(async () => (await seenBy(producer))['decode-1']?.up).toBe(0);
    const back = startAgent(directory, 'decode-1', { env: { LOCAL_RANK: '17' } });
    await expect
      .poll(() => seenBy(producer))
      .toEqual({
        ...expected,
        'decode-0': { ...expected['decode-0'], up: 0 },
        'decode-1': { up: 1, pid: back.pid, rank: 17, role: 'decode', model: 'none' },
      });
  });

  it('reads the rank from the variable that NIXL_TELEMETRY_RANK_ENV names', async () => {
    const directory = temporaryDirectory();
    startAgent(directory, 'a', { env: { LOCAL_RANK: '1', MY_RANK: '2' } });
    const producer = new NixlMetricProducer({
      directories: directory,
      attributes: ATTRIBUTES,
      rankVariable: 'MY_RANK',
    });
    onTestFinished(() => producer.close());
    await expect.poll(async () => (await seenBy(producer))['a']?.rank).toBe(2);
  });

  const LOOK = `
    const { NixlMetricProducer } = await import(arg.main);
    const { openSource } = await import(${JSON.stringify(dist('shm-bridge/index.js'))});
    const { tallyOptions } = await import(${JSON.stringify(dist('mapping/index.js'))});
    const producer = new NixlMetricProducer({ directories: arg.directory, attributes: arg.attributes });
    const source = openSource({ directories: [arg.directory], tally: tallyOptions() });
    let seen = [];
    const isKnown = () => {
      if (arg.life === 'alive') return seen.every(({ life }) => life === 'alive');
      // This is longer than a search of all processes: a life that is still unknown then stays unknown.
      return seen.every(({ startTimeMs }) => Date.now() - startTimeMs > 3000);
    };
    do {
      await new Promise((resolve) => setTimeout(resolve, 50));
      seen = source.snapshot().agents.filter(({ exported }) => exported);
    } while (seen.length < arg.agents || !isKnown());
    const { resourceMetrics } = await producer.collect();
    const { metrics } = resourceMetrics.scopeMetrics[0];
    const pointOf = (name, agent) =>
      metrics
        .find(({ descriptor }) => descriptor.name === name)
        ?.dataPoints.find(({ attributes }) => attributes.agent_name === agent);
    console.log(JSON.stringify(Object.fromEntries(seen.map(({ agent, life, pid }) => {
      const { attributes } = pointOf('nixl.ring.suspect', agent);
      const up = pointOf('nixl.agent.up', agent)?.value;
      return [agent, { life, pid, up, attribute: attributes.pid, rank: attributes.local_rank }];
    }))));`;

  /** Returns what a reader sees of one agent. `through`: command that starts the reader. */
  function lookThrough(directory: string, life: AgentLife, through: string[]): Promise<Record<string, unknown>> {
    return resultOf(LOOK, { main: dist('index.js'), directory, attributes: ATTRIBUTES, agents: 1, life }, through);
  }

  /** Makes a copy that other users can run, wherever the checkout is. */
  function programForAll(): string {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o755);
    const program = join(directory, 'transfer-source');
    copyFileSync(transferSourcePath, program);
    chmodSync(program, 0o755);
    return program;
  }

  it.runIf(isRoot)('of another user is seen by root, and is unknown without the right to look', async () => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o777);
    const { pid } = startAgent(directory, 'a', { env: { LOCAL_RANK: '3' }, uid: NOBODY, program: programForAll() });
    await expect.poll(() => existsSync(join(directory, 'a'))).toBe(true);
    // Depending on the kernel, each of the three rights permits reading /proc/*/maps.
    const withoutTheRight = ['setpriv', '--bounding-set=-sys_ptrace,-perfmon,-sys_admin', '--inh-caps=-all'];
    expect(await lookThrough(directory, 'unknown', withoutTheRight)).toEqual({ a: { life: 'unknown' } });
    expect(await lookThrough(directory, 'alive', [])).toEqual({
      a: { life: 'alive', pid, up: 1, attribute: pid, rank: 3 },
    });
  });

  it.runIf(isRoot)('of another PID namespace is unknown', async () => {
    const directory = temporaryDirectory();
    startAgent(directory, 'a', { env: { LOCAL_RANK: '3' } });
    await expect.poll(() => existsSync(join(directory, 'a'))).toBe(true);
    const elsewhere = ['unshare', '--pid', '--fork', '--mount-proc'];
    expect(await lookThrough(directory, 'unknown', elsewhere)).toEqual({ a: { life: 'unknown' } });
  });
});
