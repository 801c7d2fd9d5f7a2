/** Identities of agents from a made /proc: when it is read, what is kept, and what Kubernetes adds. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { TimeSlices } from '../../src/ground/time-slices.js';
import { EngineTable } from '../../src/engines/identify.js';
import { AgentIdentities } from '../../src/instrumentation/agents/agent-identities.js';
import { temporaryDirectory } from '../support/live.js';

const UUID = '0b7a1f3e-5c1d-4f7a-9a43-2f0e6f1f9b11';
const ID = '0f99ad5f45163ed14ab8eaf92ed34bb4a631d007f8755a7d79be614bcb0df0ef';
const UID = 'ff49d0be-16b7-4a49-bb9e-8ec1f1f4e27f';

let procDir = '';
let containerLogs = '';
let now = 0;
let identities: AgentIdentities;
beforeEach(() => {
  [procDir, containerLogs, now] = [temporaryDirectory(), temporaryDirectory(), 0];
  const look = () => [{ kind: 'user' as const, why: 'user 1 may not', mend: '' }];
  identities = new AgentIdentities({ table: new EngineTable(), containerLogs, now: () => now, procDir, look });
});

/** Writes the files of a process. */
function make(pid: number, parent: number, argv: readonly string[], { environ = '', cgroup = '0::/\n' } = {}): void {
  const folder = path.join(procDir, String(pid));
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'stat'), `${pid} (a) b) S ${parent} 1 1`);
  writeFileSync(path.join(folder, 'cmdline'), `${argv.join('\0')}\0\0\0`);
  writeFileSync(path.join(folder, 'environ'), environ);
  writeFileSync(path.join(folder, 'cgroup'), cgroup);
}

const agent = (about: { pid?: number; life?: 'alive' | 'dead' | 'unknown' } = {}) => ({
  ...{ id: 1, agent: UUID, life: 'alive' as const },
  ...about,
});

const DYNAMO = ['python3', '-m', 'dynamo.vllm', '--model', 'm'];

it('are read in slices, each once, whoever asks meanwhile', async () => {
  make(7, 1, DYNAMO);
  const agents = [11, 12, 13].map((pid) => ({ ...agent({ pid }), id: pid }));
  for (const { pid } of agents) make(pid!, 7, [`VLLM::Worker_TP${pid!}`]);
  let turns = 0;
  class Short extends TimeSlices {
    override turn(): Promise<void> {
      turns++;
      // The second caller comes after the first agent.
      if (turns === 1) expect(identities.of(agents[2]!).ranks).toEqual({ tp: 13 });
      return new Promise((resolve) => setImmediate(resolve));
    }
  }
  await identities.prepare(agents, new Short());
  expect(turns).toBe(3);
  for (const { pid } of agents) rmSync(path.join(procDir, String(pid)), { recursive: true });
  expect(agents.map((one) => identities.of(one).ranks)).toEqual([{ tp: 11 }, { tp: 12 }, { tp: 13 }]);
});

describe('an identity', () => {
  it('takes a variable of an ancestor, because a renamed process has overwritten its own', () => {
    make(9, 8, ['VLLM::Worker_TP1'], { environ: '\0\0\0DYN_SYSTEM_PORT=1\0' });
    make(8, 7, ['VLLM::EngineCore'], { environ: '\0\0' });
    make(7, 1, DYNAMO, { environ: 'PATH=/bin\0DYN_SYSTEM_PORT=9090\0SECRET=x\0' });
    const found = identities.of(agent({ pid: 9 }));
    expect(found).toMatchObject({ engine: 'dynamo', instance: ':9090', ranks: { tp: 1 }, instancePid: 7 });
    expect(JSON.stringify(found)).not.toContain('SECRET');
  });

  it('is read again after half a minute, because engines name their processes late, and then no more', () => {
    make(9, 8, ['python3', '-c', 'from multiprocessing.spawn import spawn_main']);
    make(8, 1, ['vllm', 'serve', 'm', '--port', '8100']);
    const early = identities.of(agent({ pid: 9 }));
    expect(early.label).toBe('vllm :8100');
    make(9, 8, ['VLLM::Worker_TP0']);
    now = 29_999;
    expect(identities.of(agent({ pid: 9 }))).toBe(early);
    now = 30_000;
    const late = identities.of(agent({ pid: 9 }));
    expect(late.label).toBe('vllm :8100 TP0');
    make(9, 8, ['VLLM::Worker_TP7']);
    now = 3_000_000;
    expect(identities.of(agent({ pid: 9 }))).toBe(late);
  });

  it('outlives its process, and belongs to one process', () => {
    make(9, 1, ['VLLM::Worker_TP0']);
    const found = identities.of(agent({ pid: 9 }));
    rmSync(path.join(procDir, '9'), { recursive: true });
    now = 31_000;
    expect(identities.of(agent({ pid: 9 }))).toBe(found);
    expect(identities.of(agent({ pid: 9, life: 'dead' }))).toBe(found);
    make(10, 1, ['VLLM::Worker_TP5']);
    expect(identities.of(agent({ pid: 10 })).ranks).toEqual({ tp: 5 });
  });

  it('says why it is not known', () => {
    expect(identities.of(agent({ life: 'unknown' })).unknown).toBe('its process is not seen: user 1 may not');
    expect(identities.of(agent({ life: 'dead' })).unknown).toBe('its process had ended before it was seen');
    make(9, 1, ['VLLM::Worker_TP0']);
    expect(identities.of(agent({ pid: 9 })).engine).toBe('vllm');
  });

  it('has the pod and the container, once the kubelet has linked them', () => {
    const cgroup = `0::/kubepods.slice/kubepods-pod${UID.replaceAll('-', '_')}.slice/cri-containerd-${ID}.scope\n`;
    make(9, 1, ['VLLM::Worker_TP0'], { cgroup });
    expect(identities.of(agent({ pid: 9 }))).toMatchObject({ containerId: ID, label: 'vllm TP0' });
    const target = `/var/log/pods/ml_decode-0_${UID}/engine/0.log`;
    symlinkSync(target, path.join(containerLogs, `decode-0_ml_engine-${ID}.log`));
    now = 30_000;
    const names = { namespace: 'ml', pod: 'decode-0', container: 'engine', label: 'vllm decode-0 TP0' };
    expect(identities.of(agent({ pid: 9 }))).toMatchObject({ containerId: ID, ...names });
  });
});
