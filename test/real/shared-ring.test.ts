/** Real NIXL processes whose agents have the same names, in one directory: no release keeps them apart. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, scrape, start, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { diagnose } from '../cli/doctor/doctor.js';
import { NixlAgents } from './nixl-agents.js';
import { provideNixl } from './tools.js';

const RELEASE = '1.5.1';
const RINGS = ['decode', 'prefill'];
const packages = await provideNixl();

const startAgents = (directory: string): Promise<NixlAgents> => {
  const progress = path.join(temporaryDirectory(), 'progress');
  return NixlAgents.start({ packages: packages!.get(RELEASE)!, directory, progress });
};

async function startServe(directory: string) {
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const [url] = await serve.says(/http:\S+metrics/);
  /** Values of both rings. */
  const values = async (series: string) => {
    const page = await scrape(url);
    return RINGS.map((ring) => valueOf(page, series, `agent_name="${ring}"`));
  };
  const become = (series: string, value: number) =>
    until(async () => (await values(series)).every((found) => found === value));
  return { serve, values, become };
}

interface Listed {
  agent: string;
  pid: number;
  /** Only of a ring that has several. */
  writers?: number[];
}

/** Returns the writers of each ring, by `list`. */
async function listedWriters(directory: string): Promise<Record<string, number[]>> {
  const { stdout } = await run(['list', '--dir', directory, '--json']);
  const rings = stdout.trim().split('\n').map((line) => JSON.parse(line) as Listed); // prettier-ignore
  return Object.fromEntries(rings.map(({ agent, pid, writers = [pid] }) => [agent, writers.toSorted((a, b) => a - b)]));
}

const mapsRings = (pid: number, directory: string): boolean => {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
  return RINGS.every((ring) => maps.includes(path.join(directory, ring)));
};

describe.skipIf(packages === undefined)('real agents of one name in one directory', () => {
  it.each([2, 4])('in %i processes are all named, and their sums are suspect', async (count) => {
    const directory = temporaryDirectory();
    const { serve, values, become } = await startServe(directory);
    const processes: NixlAgents[] = [];
    while (processes.length < count) processes.push(await startAgents(directory));
    const pids = processes.map(({ pid }) => pid).sort((a, b) => a - b);
    await become('nixl_ring_writers', count);
    for (const agents of processes) agents.say('work 200');
    for (const agents of processes) await agents.answer();

    await become('nixl_ring_suspect', 1); // an overlap of ten seconds may be a restart
    const said = await serve.says(/several processes write ring .*prefill, now ([\d, ]+), so its numbers may be wrong/);
    expect(pids.map(String)).toEqual(expect.arrayContaining(said[1]!.split(', ')));
    expect(await listedWriters(directory)).toEqual({ prefill: pids, decode: pids });
    const shared = async () =>
      (await diagnose(['--dir', directory])).findings.filter(({ finding }) => finding === 'ring-shared');
    await until(async () => (await shared()).length === RINGS.length); // before, the youngest process may follow an ending one
    for (const { status, what, mend } of await shared()) {
      expect(status).toBe('problem');
      for (const pid of pids) expect(what).toContain(`process ${pid}`);
      expect(mend).toMatch(/^export NIXL_TELEMETRY_DIR=.*\$RANK/);
    }

    for (const agents of processes) expect(await agents.end()).toBe(0);
    await become('nixl_ring_writers', 0);
    expect(await values('nixl_ring_suspect')).toEqual([1, 1]);
  });

  it('in one process and its forked child have one writer', async () => {
    const directory = temporaryDirectory();
    const agents = await startAgents(directory);
    agents.say('work 20');
    await agents.answer();
    agents.say('fork');
    await agents.answer();
    const children = readFileSync(`/proc/${agents.pid}/task/${agents.pid}/children`, 'utf8').trim().split(' ');
    expect(children.map((child) => mapsRings(Number(child), directory))).toEqual([true]);

    const { serve, values, become } = await startServe(directory);
    await become('nixl_ring_writers', 1);
    expect(await listedWriters(directory)).toEqual({ prefill: [agents.pid], decode: [agents.pid] });
    const { findings } = await diagnose(['--dir', directory]);
    expect(findings.filter(({ finding }) => /^ring-(shared|passed-on)$/.test(finding))).toEqual([]);
    expect(findings.filter(({ subject }) => subject.includes(children[0]!))).toMatchObject([
      { status: 'ok', what: 'maps a ring and is not seen to write it, as a child that inherited it' },
    ]);
    agents.say('work 20');
    await agents.answer();
    expect(await agents.end()).toBe(0);
    await become('nixl_ring_writers', 0);
    expect(await values('nixl_ring_suspect')).toEqual([0, 0]);
    await serve.stop();
    expect(serve.stderr).not.toContain('several processes');
  });
});
