/** Agents in cgroups of this test, named as containers: their attributes, as readers in other cgroups and namespaces get them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dist, resultOf } from '../support/child.js';
import { temporaryDirectory, transferSourcePath } from '../support/live.js';

interface Hierarchy {
  readonly type: string;
  readonly root: string;
}

/** Mounted hierarchies of both versions in which this user can make cgroups. Of version 1 that of systemd, which limits nothing. */
function hierarchies(): Hierarchy[] {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  return mounts.flatMap((line) => {
    const [, root, type, options] = line.split(' ');
    const isRight = type === 'cgroup2' || (type === 'cgroup' && options?.includes('name=systemd') === true);
    return isRight && canMakeCgroups(root!) ? [{ type, root: root! }] : [];
  });
}

function canMakeCgroups(root: string): boolean {
  const trial = join(root, `nixl-otel-trial-${process.pid}`);
  try {
    mkdirSync(trial);
    rmdirSync(trial);
    return true;
  } catch {
    return false;
  }
}

/** A pod with the cgroups of its containers, which end with the test. */
function podIn({ root }: Hierarchy) {
  const uid = randomUUID();
  const directory = join(root, `pod${uid}`);
  mkdirSync(directory);
  onTestFinished(() => rmdirSync(directory));
  const container = () => {
    const id = randomBytes(32).toString('hex');
    const cgroup = join(directory, `crio-${id}.scope`);
    mkdirSync(cgroup);
    onTestFinished(() => expect.poll(() => isRemoved(cgroup)).toBe(true));
    return { id, cgroup };
  };
  return { uid, container };
}

/** A process leaves its cgroup some time after its end. */
function isRemoved(cgroup: string): boolean {
  try {
    rmdirSync(cgroup);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
  }
  return !existsSync(cgroup);
}

/** Command that runs another one in a cgroup. */
function inCgroup(cgroup: string, ...through: string[]): string[] {
  return ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(cgroup, 'cgroup.procs'), ...through];
}

const IN_NAMESPACE = ['unshare', '--cgroup'];

function startAgent(directory: string, cgroup: string, env: Record<string, string>): ChildProcess {
  const args = ['--dir', directory, '--name', 'a', '--exact-name', '--agents', '1', '--rate', '20', '--seconds', '300'];
  const [program, ...rest] = [...inCgroup(cgroup), transferSourcePath, ...args];
  const child = spawn(program!, rest, { stdio: 'ignore', env: { PATH: process.env['PATH'], ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const LOOK = `
  Object.assign(process.env, arg.env);
  const { DiagLogLevel, diag } = await import('@opentelemetry/api');
  const warnings = [];
  const ignore = () => {};
  diag.setLogger({ error: ignore, warn: (...words) => warnings.push(words.join(' ')), info: ignore, debug: ignore, verbose: ignore });
  const { NixlMetricProducer } = await import(arg.main);
  const attributes = ['kubernetes', { name: 'process', source: 'process_name' }, { name: 'pid', source: 'pid', type: 'integer' }];
  const producer = new NixlMetricProducer({ directories: arg.directory, attributes });
  const begin = Date.now();
  for (;;) {
    const { resourceMetrics } = await producer.collect();
    const up = resourceMetrics.scopeMetrics[0]?.metrics.find(({ descriptor }) => descriptor.name === 'nixl.agent.up');
    const labels = up?.dataPoints[0]?.attributes;
    // A process that is not seen after a search of all processes stays unseen.
    if (labels !== undefined && (labels.pid !== undefined || (!arg.isVisible && Date.now() - begin > 3000))) {
      delete labels.pid;
      console.log(JSON.stringify({ labels, warnings }));
      process.exit();
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }`;

interface Seen {
  readonly labels: Record<string, string>;
  readonly warnings: readonly string[];
}

/** Returns what a reader sees of agent `a`. `through`: command that starts the reader. */
function look(directory: string, through: string[], env: Record<string, string> = {}, isVisible = true): Promise<Seen> {
  return resultOf<Seen>(LOOK, { main: dist('index.js'), directory, env, isVisible }, through);
}

const BASE = { hostname: expect.any(String) as string, agent_name: 'a' };
const PROCESS = { ...BASE, process: 'transfer-source' };
const POD = { POD_NAME: 'Decode-0.a', POD_NAMESPACE: 'serving' };
const NAMES = { 'k8s.pod.name': 'Decode-0.a', 'k8s.namespace.name': 'serving' };
const found = hierarchies();

if (found.length === 0) {
  it.skip('agents in containers: this user can change no cgroup hierarchy', () => {});
}

describe.each(found)('an agent in a container of a pod, in $type', (hierarchy) => {
  it('has container, pod and its own variables, with the node of the reader', async () => {
    const pod = podIn(hierarchy);
    const { id, cgroup } = pod.container();
    const directory = temporaryDirectory();
    startAgent(directory, cgroup, POD);
    const expected = { ...PROCESS, 'container.id': id, 'k8s.pod.uid': pod.uid, ...NAMES, 'k8s.node.name': 'Node-7' };
    const env = { NODE_NAME: 'Node-7', POD_NAME: 'the-reader', POD_NAMESPACE: 'monitoring' };
    // A reader of the host, and one in a container of another pod with a cgroup namespace.
    const other = podIn(hierarchy).container();
    for (const through of [[], inCgroup(other.cgroup, ...IN_NAMESPACE)]) {
      expect(await look(directory, through, env)).toEqual({ labels: expected, warnings: [] });
    }
  });

  it('has the variables of a reader in the same pod only, if it has none of its own', async () => {
    const pod = podIn(hierarchy);
    const { id, cgroup } = pod.container();
    const directory = temporaryDirectory();
    startAgent(directory, cgroup, { POD_NAME: '' });
    const known = { ...PROCESS, 'container.id': id, 'k8s.pod.uid': pod.uid };
    expect((await look(directory, inCgroup(pod.container().cgroup), POD)).labels).toEqual({ ...known, ...NAMES });
    expect((await look(directory, inCgroup(podIn(hierarchy).container().cgroup), POD)).labels).toEqual(known);
    expect((await look(directory, [], POD)).labels).toEqual(known);
  });

  it('has no pod if the cgroup namespace of a reader hides it, and then no variables of the reader', async () => {
    const pod = podIn(hierarchy);
    const { id, cgroup } = pod.container();
    const directory = temporaryDirectory();
    startAgent(directory, cgroup, {});
    const beside = inCgroup(pod.container().cgroup, ...IN_NAMESPACE);
    expect(await look(directory, beside, POD)).toEqual({ labels: { ...PROCESS, 'container.id': id }, warnings: [] });
    const inside = inCgroup(cgroup, ...IN_NAMESPACE);
    const warning: unknown = expect.stringMatching(
      / the container of ring \S+\/a is unknown: its process is in the root cgroup, or/,
    );
    expect(await look(directory, inside, POD)).toEqual({ labels: PROCESS, warnings: [warning] });
  });

  it('has neither container nor pod in a PID namespace of the reader', async () => {
    const { cgroup } = podIn(hierarchy).container();
    const directory = temporaryDirectory();
    startAgent(directory, cgroup, POD);
    await expect.poll(() => existsSync(join(directory, 'a'))).toBe(true);
    const through = ['unshare', '--pid', '--fork', '--mount-proc'];
    expect(await look(directory, through, {}, false)).toEqual({ labels: BASE, warnings: [] });
  });
});
