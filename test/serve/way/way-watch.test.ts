/** The way of an agent from made counters in virtual time, and the label that it becomes. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WayWatch } from '../../../src/serve/way/way-watch.js';
import type { ServedAgent } from '../../../src/view/model/agent-model.js';
import { wayText } from '../../../src/way/way.js';
import { agentModel } from '../../support/agent-models.js';
import { temporaryDirectory } from '../../support/live.js';
import { writeTree } from '../../support/tree-of-files.js';

const PID = 7;
const PORT = 'class/infiniband/mlx5_0/ports/1';
const SAMPLE_MS = 5000;

/** A process that has one of two cards open, and bytes of it that grow by another amount in each sample. */
function moving() {
  const [sys, proc] = [temporaryDirectory(), temporaryDirectory()];
  writeTree(sys, { 'class/infiniband_verbs/uverbs0/ibdev': 'mlx5_0', [`${PORT}/state`]: '4: ACTIVE' });
  writeTree(proc, {
    [`${PID}/maps`]: '7f00-7f01 r-xp 00000000 00:1f 12 /opt/libplugin_UCX.so',
    [`${PID}/net/dev`]: '',
    [`${PID}/status`]: 'Mems_allowed_list:\t1\n',
  });
  for (const folder of ['fd', 'ns']) mkdirSync(`${proc}/${PID}/${folder}`);
  symlinkSync('net:[4026531840]', `${proc}/${PID}/ns/net`);
  symlinkSync('/dev/infiniband/uverbs0', `${proc}/${PID}/fd/4`);
  const watch = new WayWatch(sys, proc);
  let [atMs, txBytes, others] = [0, 0, 0];
  const sample = (counts: boolean): void => {
    const bytes = 1e9 * (1 + ((7 * (atMs / SAMPLE_MS)) % 5));
    txBytes += bytes;
    others += counts ? bytes / 4 : 0;
    writeTree(sys, { [`${PORT}/counters/port_xmit_data`]: `${others}`, [`${PORT}/counters/port_rcv_data`]: '0' });
    const agent = { ...agentModel('a'), id: 1, pid: PID, txBytes } as unknown as ServedAgent;
    watch.take(atMs, [agent]);
    atMs += SAMPLE_MS;
  };
  const text = (): string | undefined => {
    const way = watch.of(1)?.tx;
    return way && wayText(way);
  };
  return { watch, sample, text, nowMs: () => atMs };
}

test('follows the counters of a port, and is a label a minute after it was certain', () => {
  const { watch, sample, text, nowMs } = moving();
  while (text() === undefined && nowMs() < 300_000) sample(true);
  expect(text()).toBe('rdma by mlx5_0/1');
  expect(watch.of(1)).toMatchObject({ backends: ['UCX'], devices: ['mlx5_0'], memoryNode: 1, tx: { sure: 'certain' } });
  expect(watch.ports).toMatchObject([{ name: 'mlx5_0/1', isActive: true }]);
  expect(watch.ports[0]!.sentPerSecond).toBeGreaterThanOrEqual(1e9 / 5);
  const certainMs = nowMs();
  while (watch.steady.of(1) === undefined && nowMs() < 300_000) sample(true);
  expect(watch.steady.of(1)).toEqual({ tx: 'rdma by mlx5_0/1' });
  expect(nowMs() - certainMs).toBe(60_000);
});

test('is another one once the bytes leave the port', () => {
  const { sample, text, nowMs } = moving();
  while (nowMs() < 120_000) sample(true);
  while (text() !== 'neither' && nowMs() < 300_000) sample(false);
  expect(text()).toBe('neither');
});

test('counts interfaces of each network namespace, through any process in it', () => {
  const [sys, proc] = [temporaryDirectory(), temporaryDirectory()];
  const processes = { 7: 'net:[2]', 8: 'net:[2]', 9: 'net:[1]' };
  for (const [pid, network] of Object.entries(processes)) {
    writeTree(proc, { [`${pid}/maps`]: '' });
    for (const folder of ['fd', 'ns']) mkdirSync(`${proc}/${pid}/${folder}`);
    symlinkSync(network, `${proc}/${pid}/ns/net`);
  }
  const watch = new WayWatch(sys, proc);
  let [atMs, inContainer, onHost] = [0, 0, 0];
  const sample = (pids: readonly number[]): void => {
    const step = atMs / SAMPLE_MS;
    inContainer += 1e8 * (1 + ((7 * step) % 5));
    onHost += 1e8 * (1 + ((3 * step) % 7));
    const zeros = ' 0'.repeat(7);
    for (const pid of pids) {
      const sent = processes[pid as 7] === 'net:[2]' ? inContainer : 1000;
      writeTree(proc, { [`${pid}/net/dev`]: `  eth0: 0${zeros} ${sent}${zeros}` });
    }
    const moved = { 7: 0, 8: inContainer, 9: onHost };
    const agents = Object.entries(moved).map(([pid, txBytes]) => ({
      ...agentModel(pid),
      ...{ id: Number(pid), pid: Number(pid), txBytes },
    }));
    watch.take(atMs, agents as unknown as ServedAgent[]);
    atMs += SAMPLE_MS;
  };
  const ways = (): unknown[] => [8, 9].map((id) => watch.of(id)?.tx).map((way) => way && wayText(way));
  while (atMs < 120_000) sample([7, 8, 9]);
  expect(ways()).toEqual(['tcp by eth0', 'neither']);
  // Whether that process ended is not known.
  rmSync(`${proc}/7`, { recursive: true });
  while (atMs < 240_000) sample([8, 9]);
  expect(ways()).toEqual(['tcp by eth0', 'neither']);
  expect(watch.of(8)?.tx?.before).toBeUndefined();
  rmSync(`${proc}/8/net`, { recursive: true });
  while (atMs < 360_000) sample([9]);
  expect(ways()).toEqual([undefined, 'neither']);
  expect(watch.of(8)?.tx).toMatchObject({ kind: 'unknown', before: 'tcp by eth0' });
});
