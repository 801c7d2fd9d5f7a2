/** The report of `nixl-otel run` equals what a program asked of real NIXL agents, of several releases. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tallyOptions } from '../../src/mapping/index.js';
import { reportProblem } from '../../src/report/report-problem.js';
import type { ReportedAgent, RunReport } from '../../src/report/run-report.js';
import { readKeptTally } from '../../src/shm-bridge/kept-tally.js';
import { MAIN, temporaryDirectory, until } from '../cli/command.js';
import { nameAndVersion, rowsOf } from '../compatibility/page.js';
import { provideNixl } from './tools.js';

const PROGRAM = new URL('nixl/agents.py', import.meta.url).pathname;
const RELEASES = rowsOf('NIXL', 'npm run test:real').map((row) => nameAndVersion(row['NIXL']!).version);
const packages = await provideNixl();

type Sums = Record<string, number>;

/** Runs the program below `run`, ends it once its rings have all events, and returns what it asked for. */
async function moved(release: string, directory: string, file: string): Promise<Record<string, Sums>> {
  const words = [
    'run',
    '--tmpfs',
    directory,
    '--report',
    file,
    '--',
    'python3',
    PROGRAM,
    path.join(directory, 'progress'),
  ];
  const child = spawn(process.execPath, [MAIN, ...words], {
    // An exporter of NIXL in the environment must not keep the agents from their rings.
    env: {
      ...process.env,
      PYTHONPATH: packages!.get(release)!,
      NIXL_LOG_LEVEL: 'FATAL',
      NIXL_TELEMETRY_EXPORTER: 'prometheus',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<Record<string, Sums>> => {
    for (;;) {
      const next = await answers.next();
      if (next.done === true) throw new Error(`the agents ended with ${String(await ended)}`);
      if (next.value.startsWith('{')) return JSON.parse(next.value) as Record<string, Sums>;
    }
  };
  await answer();
  child.stdin.write('work 200\n');
  const sums = await answer();
  const own = readdirSync(directory).find((name) => name.startsWith('nixl-otel-run-'))!;
  const isDrained = (agent: string): boolean => {
    const kept = readKeptTally(path.join(directory, own, 'rings', agent), tallyOptions());
    const transfers = kept?.tally.events.filter(({ type }) => type === 2 || type === 3) ?? [];
    const wanted =
      (sums[agent]!['agent_tx_requests_num_total'] ?? 0) + (sums[agent]!['agent_rx_requests_num_total'] ?? 0);
    return transfers.reduce((all, { count }) => all + count, 0) === wanted;
  };
  await until(() => ['prefill', 'decode'].every(isDrained));
  child.stdin.write('end\n');
  expect(await ended).toBe(0);
  return sums;
}

describe.skipIf(packages === undefined)('a run of real agents', () => {
  it.each(RELEASES)('of NIXL %s is reported to the unit', async (release) => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'report.json');
    const sums = await moved(release, directory, file);
    const json: unknown = JSON.parse(readFileSync(file, 'utf8'));
    expect(reportProblem(json)).toBeUndefined();
    const { agents, notes } = json as RunReport;
    expect(notes).toContain('NIXL_TELEMETRY_EXPORTER=prometheus is overruled: agents of a run write rings');
    const counted = (agent: ReportedAgent) => ({
      tx: [agent.tx.transfers, agent.tx.bytes],
      rx: [agent.rx.transfers, agent.rx.bytes],
      timed: [...agent.tx.classes, ...agent.rx.classes].reduce((all, one) => all + one.transfers, 1),
      errors: agent.errors.reduce((all, one) => all + one, 0),
      peak: agent.memoryPeakBytes,
      hasFirst: agent.firstTransfer !== undefined,
    });
    const asked = ({ ...series }: Sums) => ({
      tx: [series['agent_tx_requests_num_total'] ?? 0, series['agent_tx_bytes_total'] ?? 0],
      rx: [series['agent_rx_requests_num_total'] ?? 0, series['agent_rx_bytes_total'] ?? 0],
      timed: series['agent_xfer_time_us_count'],
      errors: series['agent_errors_total not_found'] ?? 0,
      peak: series['agent_memory_registered_total'],
      hasFirst: true,
    });
    expect(Object.fromEntries(agents.map((agent) => [agent.agent, counted(agent)]))).toEqual(
      Object.fromEntries(Object.entries(sums).map(([agent, own]) => [agent, asked(own)])),
    );
  });
});
