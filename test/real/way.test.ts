/** The way of real NIXL agents with UCX: by TCP between two containers, and by shared memory within one network namespace. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { AgentsAnswer } from '../../src/view/answers/answer.js';
import type { ServedAgent } from '../../src/view/model/agent-model.js';
import { wayText } from '../../src/way/way.js';
import { run, type RunningCommand, scrape, start, temporaryDirectory, until } from '../cli/command.js';
import { samplesOf } from '../support/page.js';
import { provideNixl } from './tools.js';

const packages = await provideNixl();
const NEWEST = '1.5.1';
const PROGRAM = new URL('nixl/movers.py', import.meta.url).pathname;
const [HERE, THERE] = ['nixl-otel-here', 'nixl-otel-there'];

/** Makes two network namespaces that are joined by one interface each, `eth0`. Returns why that is not possible. */
function joinedNamespaces(): string | undefined {
  const ip = (...args: string[]): string => {
    const { error, status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
    return error === undefined ? (status === 0 ? '' : stderr.trim()) : error.message;
  };
  const remove = (): void => {
    for (const name of [HERE, THERE]) ip('netns', 'delete', name);
  };
  remove(); // of a run that was killed
  const steps = [
    ['netns', 'add', HERE],
    ['netns', 'add', THERE],
    ['link', 'add', 'eth0', 'netns', HERE, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', THERE],
    ...[HERE, THERE].flatMap((name, i) => [
      ['-n', name, 'address', 'add', `10.77.0.${i + 1}/24`, 'dev', 'eth0'],
      ['-n', name, 'link', 'set', 'eth0', 'up'],
      ['-n', name, 'link', 'set', 'lo', 'up'],
    ]),
  ];
  for (const step of steps) {
    const problem = ip(...step);
    if (problem === '') continue;
    remove();
    return problem;
  }
  onTestFinished(remove);
  return undefined;
}

/** Namespaces of a container, beside that of its network. */
const CONTAINER = [
  'unshare',
  '--mount',
  '--pid',
  '--ipc',
  '--uts',
  '--cgroup',
  '--fork',
  '--kill-child',
  '--mount-proc',
];

/** Starts a program in a network namespace. It ends with the test. */
function startIn(namespace: string, command: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const stdio = ['pipe', 'pipe', 'inherit'] as const;
  const child = spawn('ip', ['netns', 'exec', namespace, ...command], {
    env: { ...process.env, ...env },
    stdio: [...stdio],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function lineOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error('it ended without a line');
}

/** Traffic that is not NIXL's: two megabytes at a time, with pauses. */
const TALK = `
import random, socket, sys, time
if sys.argv[1] == "take":
    door = socket.create_server(("10.77.0.2", 5077)); print("open", flush=True)
    talk, _ = door.accept()
    while talk.recv(65536): pass
talk = socket.create_connection(("10.77.0.2", 5077))
while True:
    talk.sendall(bytes(2 << 20)); time.sleep(random.uniform(0.1, 2))
`;

/** Agents of NIXL that move bytes, and serve beside them. */
class Movers {
  readonly #directory = temporaryDirectory();
  #serve: RunningCommand | undefined;
  #url = '';

  /** Moves bytes from a writer `name` to a receiver. `namespaces`: of their networks. `container`: what each is started by. */
  async pair(
    name: string,
    tls: string,
    namespaces: readonly [string, string],
    container: readonly string[] = [],
  ): Promise<void> {
    const [writer, receiver] = namespaces.map((namespace, i) =>
      startIn(
        namespace,
        [...container, 'python3', PROGRAM, ...(i === 0 ? ['write', name, '4'] : ['receive', `${name}-receiver`])],
        {
          PYTHONPATH: packages!.get(NEWEST)!,
          ...{ NIXL_LOG_LEVEL: 'FATAL', UCX_TLS: tls, UCX_NET_DEVICES: 'all' },
          ...{ NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_DIR: this.#directory },
        },
      ),
    );
    writer!.stdin!.write(`${await lineOf(receiver!)}\n`);
    await lineOf(writer!);
  }

  /** Starts serve, and returns its address. */
  async serve(): Promise<string> {
    this.#serve = start(['serve', '--dir', this.#directory, '--port', '0', '--naming', 'nixl']);
    [this.#url] = (await this.#serve.says(/http:\S+metrics/)) as unknown as [string];
    return this.#url;
  }

  async agentOf(name: string): Promise<ServedAgent | undefined> {
    const answer = await (await fetch(new URL('/api/v1/agents', this.#url))).json();
    return (answer as AgentsAnswer<ServedAgent>).agents.find(({ agent }) => agent === name);
  }

  async stop(): Promise<void> {
    await this.#serve?.stop();
  }
}

test.skipIf(packages === undefined)(
  'TCP of agents in containers and shared memory of others are told apart',
  async (context) => {
    const problem = joinedNamespaces();
    if (problem !== undefined) return context.skip(`no network namespaces: ${problem}`);
    const movers = new Movers();
    await lineOf(startIn(THERE, ['python3', '-c', TALK, 'take']));
    startIn(HERE, ['python3', '-c', TALK, 'give']);
    await movers.pair('by-tcp', 'tcp', [HERE, THERE], CONTAINER);
    await movers.pair('by-memory', 'all', [HERE, HERE]);
    const url = await movers.serve();
    for (const name of ['by-tcp', 'by-memory']) {
      await until(async () => ((await movers.agentOf(name))?.way?.tx?.kind ?? 'unknown') !== 'unknown');
    }
    const { way: tcp, pid } = (await movers.agentOf('by-tcp'))!;
    const { way: memory } = (await movers.agentOf('by-memory'))!;
    expect([wayText(tcp!.tx!), wayText(memory!.tx!)]).toEqual(['tcp by eth0', 'neither']);
    // serve sees the process from outside; in the container it is the first one.
    expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(new RegExp(`^NSpid:\\t${pid}\\t1$`, 'm'));
    expect(tcp!.tx!.bytesPerByte).toBeGreaterThan(0.95);
    expect(tcp!.tx!.bytesPerByte).toBeLessThan(1.16);
    expect(tcp).toMatchObject({ backends: ['UCX'], devices: [], ucxTls: 'tcp', ucxNetDevices: 'all' });
    expect((await movers.agentOf('by-tcp-receiver'))?.way?.tx).toBeUndefined();
    const top = await run(['top', '--url', url, '--once', '--json']);
    expect(top.stdout).toContain('"by-tcp"');
    const { origin } = new URL(url);
    expect((await run(['list', '--sizes', '--url', origin])).stdout).toMatch(/^by-tcp .* tcp by eth0( few)?$/m);
    const info = async () =>
      samplesOf(await scrape(url)).find(
        ({ name, labels }) => name === 'nixl_agent_info' && labels['agent_name'] === 'by-tcp',
      );
    await until(async () => (await info())?.labels['way_tx'] === 'tcp by eth0');
    await movers.stop();
  },
);

/** Makes an RDMA device in software on `eth0` of a namespace. Returns why that is not possible. */
function softRoce(namespace: string): string | undefined {
  spawnSync('modprobe', ['rdma_rxe']);
  const device = `${namespace}-rxe`.replaceAll('-', '_');
  const words = ['netns', 'exec', namespace, 'rdma', 'link', 'add', device, 'type', 'rxe', 'netdev', 'eth0'];
  const { error, status, stderr } = spawnSync('ip', words, { encoding: 'utf8' });
  if (error !== undefined || status !== 0) return error?.message ?? stderr.trim();
  onTestFinished(() => void spawnSync('rdma', ['link', 'delete', device]));
  return undefined;
}

test.skipIf(packages === undefined)('bytes of soft RoCE, which nothing counts, are not called TCP', async (context) => {
  const problem = joinedNamespaces() ?? softRoce(HERE) ?? softRoce(THERE);
  if (problem !== undefined) return context.skip(`no soft RoCE: ${problem}`);
  const movers = new Movers();
  await movers.pair('by-roce', 'rc,ud', [HERE, THERE]);
  await movers.serve();
  const why = async (): Promise<string | undefined> => (await movers.agentOf('by-roce'))?.way?.tx?.why;
  await until(async () => /RDMA device/.test((await why()) ?? ''));
  await movers.stop();
});
