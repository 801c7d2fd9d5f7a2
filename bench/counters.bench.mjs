/** Reading counters of the network, and finding the ways of agents by them, as serve does beside each sample. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { WayWatch } from '../dist/serve/way/way-watch.js';
import { inDirectory, round } from './support/measure.mjs';

export const title =
  'CPU of a sample of counters, taken every five seconds, and of the ways of busy agents (limit: 2 ms a second)';

const SAMPLE_MS = 5000;
/** After so many samples all processes are read, and the judged windows are full. */
const WARM_SAMPLES = 40;
const CARDS = 8;
/** Files of the kernel: what it writes for them is most of the cost of a read. */
const OF_KERNEL = ['net', 'maps', 'io'];

export async function run({ quick }) {
  const cases = [
    { agents: 64, networks: 1 },
    { agents: 64, networks: 64 },
  ];
  const rows = [];
  for (const one of quick ? [{ agents: 8, networks: 8 }] : cases)
    rows.push(await inDirectory((directory) => measure(directory, one, quick ? 5 : 200)));
  return rows;
}

async function measure(directory, { agents, networks }, samples) {
  const host = hostIn(directory, agents, networks);
  const watch = new WayWatch(host.sys, host.proc);
  const moving = Array.from({ length: agents }, (_, id) => ({
    id,
    pid: id + 1,
    life: 'alive',
    txBytes: 0,
    rxBytes: 0,
  }));
  let [cpuUs, plainUs] = [0, 0];
  for (let sample = -WARM_SAMPLES; sample < samples; sample++) {
    for (const agent of moving) agent.txBytes += 1e9 * (0.5 + Math.random());
    host.count(moving);
    const takenUs = timed(() => watch.take((sample + WARM_SAMPLES) * SAMPLE_MS, moving));
    const readUs = timed(() => host.counters.forEach((file) => readFileSync(file, 'latin1')));
    if (sample < 0) continue;
    cpuUs += takenUs;
    plainUs += readUs;
  }
  const known = moving.filter(({ id }) => watch.of(id).tx?.kind === 'rdma').length;
  return { agents, networks, sampleMs: cpuUs / 1000 / samples, plainMs: plainUs / 1000 / samples, known };
}

/** Microseconds of CPU. */
function timed(work) {
  const begun = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begun);
  return user + system;
}

/** Makes processes that each have one card open, in so many network namespaces. Returns how their bytes get into counters. */
function hostIn(directory, agents, networks) {
  const [sys, proc] = ['sys', 'proc'].map((name) => path.join(directory, name));
  const ports = Array.from({ length: CARDS }, (_, i) => {
    write(path.join(sys, `class/infiniband_verbs/uverbs${i}/ibdev`), `mlx5_${i}`);
    const port = path.join(sys, `class/infiniband/mlx5_${i}/ports/1`);
    write(path.join(port, 'state'), '4: ACTIVE');
    write(path.join(port, 'rate'), '400 Gb/sec (4X NDR)');
    return ['port_xmit_data', 'port_rcv_data'].map((name) => path.join(port, 'counters', name));
  });
  for (let id = 0; id < agents; id++) {
    const folder = path.join(proc, String(id + 1));
    for (const name of ['ns', 'fd']) mkdirSync(path.join(folder, name), { recursive: true });
    for (const name of OF_KERNEL) symlinkSync(`/proc/self/${name}`, path.join(folder, name));
    symlinkSync(`net:[${4026531840 + (id % networks)}]`, path.join(folder, 'ns/net'));
    symlinkSync(`/dev/infiniband/uverbs${id % CARDS}`, path.join(folder, 'fd/4'));
  }
  const interfaces = Array.from({ length: networks }, (_, i) => path.join(proc, String(i + 1), 'net/dev'));
  const count = (moving) =>
    ports.forEach(([sent, received], i) => {
      const bytes = moving.reduce((sum, { id, txBytes }) => (id % CARDS === i ? sum + txBytes : sum), 0);
      write(sent, String(Math.round(bytes / 4)));
      write(received, '0');
    });
  return { sys, proc, count, counters: [...ports.flat(), ...interfaces] };
}

function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${text}\n`);
}

export function caseOf({ agents, networks }) {
  return `${agents} busy agents, ${networks === 1 ? 'one network namespace' : `${networks} network namespaces`}`;
}

export function columnsOf({ sampleMs, plainMs, known }) {
  return {
    'sample, ms': round(sampleMs, 2),
    'a second, ms': round((sampleMs * 1000) / SAMPLE_MS, 2),
    'of plain reads of the counters': round(sampleMs / plainMs, 1),
    'agents with a way': known,
  };
}
