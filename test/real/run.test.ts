/** The report of `nixl-otel run` equals what a program asked of real NIXL agents, of several releases. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bytesText, numberText } from '../../src/ground/figures/figure.js';
import { tallyOptions } from '../../src/mapping/index.js';
import { reportProblem } from '../../src/report/report-problem.js';
import type { ReportedAgent, RunReport } from '../../src/report/run-report.js';
import { readKeptTally } from '../../src/shm-bridge/kept-tally.js';
import { positionsOf } from '../../src/shm-bridge/ring.js';
import { MAIN, temporaryDirectory, until } from '../cli/command.js';
import { nameAndVersion, rowsOf } from '../compatibility/page.js';
import { provideNixl } from './tools.js';

const folder = new URL('nixl/', import.meta.url).pathname;
const RELEASES = rowsOf('NIXL', 'npm run test:real').map((row) => nameAndVersion(row['NIXL']!).version);
const NEWEST = RELEASES.at(-1)!;
const packages = await provideNixl();

type Sums = Record<string, number>;

/** Real agents below `run`, in a directory of its own, with an exporter in the environment that must not keep them from their rings. */
class AgentsOfRun {
  readonly directory = temporaryDirectory();
  /** What has been asked of each agent. */
  readonly sums: Record<string, Sums> = {};
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  #stderr = '';

  /** `program` gets the directory, and the further arguments. */
  constructor(release: string, program: string, ...args: readonly string[]) {
    const files = ['json', 'html'].flatMap((ending) => ['--report', this.#file(ending)]);
    const words = ['run', '--tmpfs', this.directory, ...files, '--', 'python3', `${folder}${program}`, ...args];
    this.#child = spawn(process.execPath, [MAIN, ...words], {
      env: {
        ...process.env,
        PYTHONPATH: packages!.get(release)!,
        NIXL_LOG_LEVEL: 'FATAL',
        NIXL_TELEMETRY_EXPORTER: 'prometheus',
      },
      stdio: 'pipe',
    });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.#ended = new Promise((resolve) => this.#child.once('close', (code, signal) => resolve(signal ?? code)));
    this.#answers = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  say(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  /** Takes the answers of so many processes. */
  async take(count = 1): Promise<void> {
    while (count > 0) {
      const next = await this.#answers.next();
      if (next.done === true) throw new Error(`the agents ended with ${String(await this.#ended)}: ${this.#stderr}`);
      if (!next.value.startsWith('{')) continue; // a log line of NIXL
      Object.assign(this.sums, JSON.parse(next.value));
      count--;
    }
  }

  ring(agent: string): string {
    const own = readdirSync(this.directory).find((name) => name.startsWith('nixl-otel-run-'))!;
    return path.join(this.directory, own, 'rings', agent);
  }

  /** Waits until `run` has drained all that was asked of the agent: it rests. */
  drained(agent: string): Promise<unknown> {
    const { agent_tx_requests_num_total: tx = 0, agent_rx_requests_num_total: rx = 0 } = this.sums[agent]!;
    return until(() => {
      const kept = readKeptTally(this.ring(agent), tallyOptions());
      const transfers = kept?.tally.events.filter(({ type }) => type === 2 || type === 3) ?? [];
      return transfers.reduce((all, { count }) => all + count, 0) === tx + rx;
    });
  }

  /** Waits for the end of the command. */
  async reports(): Promise<{ json: RunReport; html: string; text: string }> {
    this.#child.stdin!.end();
    expect(await this.#ended, this.#stderr).toBe(0);
    const json: unknown = JSON.parse(readFileSync(this.#file('json'), 'utf8'));
    expect(reportProblem(json)).toBeUndefined();
    return { json: json as RunReport, html: readFileSync(this.#file('html'), 'utf8'), text: this.#stderr };
  }

  #file(ending: string): string {
    return path.join(this.directory, `report.${ending}`);
  }
}

function counted(agent: ReportedAgent) {
  return {
    tx: [agent.tx.transfers, agent.tx.bytes],
    rx: [agent.rx.transfers, agent.rx.bytes],
    timed: [...agent.tx.classes, ...agent.rx.classes].reduce((all, one) => all + one.transfers, 1),
    errors: agent.errors.reduce((all, one) => all + one, 0),
    peak: agent.memoryPeakBytes,
    hasFirst: agent.firstTransfer !== undefined,
  };
}

function asked(series: Sums): ReturnType<typeof counted> {
  return {
    tx: [series['agent_tx_requests_num_total'] ?? 0, series['agent_tx_bytes_total'] ?? 0],
    rx: [series['agent_rx_requests_num_total'] ?? 0, series['agent_rx_bytes_total'] ?? 0],
    timed: series['agent_xfer_time_us_count']!,
    errors: series['agent_errors_total not_found'] ?? 0,
    peak: series['agent_memory_registered_total'],
    hasFirst: true,
  };
}

/** Agent, direction, transfers and bytes of each row of the report's first table. */
const rowsOfAgents = (rows: readonly string[][]): string[][] =>
  rows.flatMap(([agent = '', pid = '', ...cells]) =>
    /^(prefill|decode)-/.test(agent) && /^\d+$/.test(pid) ? [[agent, ...cells.slice(0, 3)]] : [],
  );
const rowsOfText = (text: string): string[][] => text.split('\n').map((line) => line.split(/ {2,}/));
const rowsOfHtml = (html: string): string[][] =>
  [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => cell!),
  );

describe.skipIf(packages === undefined)('a run of real agents', () => {
  it.each(RELEASES)('of NIXL %s is reported to the unit', async (release) => {
    const agents = new AgentsOfRun(release, 'agents.py', path.join(temporaryDirectory(), 'progress'));
    await agents.take();
    agents.say('work 200');
    await agents.take();
    for (const agent of ['prefill', 'decode']) await agents.drained(agent);
    agents.say('end');
    const { json } = await agents.reports();
    expect(json.notes).toContain('NIXL_TELEMETRY_EXPORTER=prometheus is overruled: agents of a run write rings');
    expect(Object.fromEntries(json.agents.map((agent) => [agent.agent, counted(agent)]))).toEqual(
      Object.fromEntries(Object.entries(agents.sums).map(([agent, own]) => [agent, asked(own)])),
    );
  });

  it('in several processes, of which one forks, one is killed at rest and one at work, is told alike by all forms', async () => {
    const names = ['resting', 'forking', 'killed', 'working'];
    const agents = new AgentsOfRun(NEWEST, 'several.py', temporaryDirectory(), ...names);
    await agents.take(names.length);
    for (const name of names.slice(0, 3)) agents.say(`${name} work 80`);
    await agents.take(3);
    agents.say('forking fork');
    await agents.take();
    agents.say('forking work 40');
    await agents.take();
    const resting = names.slice(0, 3).flatMap((name) => [`prefill-${name}`, `decode-${name}`]);
    for (const agent of resting) await agents.drained(agent);
    agents.say('killed kill');
    await agents.take();
    agents.say('working work 1000000');
    const given = (agent: string): number => Number(positionsOf(agents.ring(agent))!.writePos);
    await until(() => given('decode-working') > 200);
    agents.say('working kill');
    await agents.take();
    const ofKilled = Object.fromEntries(['prefill-working', 'decode-working'].map((agent) => [agent, given(agent)]));
    for (const name of ['resting', 'forking']) agents.say(`${name} end`);
    const { json, html, text } = await agents.reports();

    const [atRest, atWork] = [true, false].map((isAtRest) =>
      json.agents.filter(({ agent }) => resting.includes(agent) === isAtRest),
    ) as [ReportedAgent[], ReportedAgent[]];
    expect(Object.fromEntries(atRest.map((agent) => [agent.agent, counted(agent)]))).toEqual(
      Object.fromEntries(resting.map((agent) => [agent, asked(agents.sums[agent]!)])),
    );
    expect(Object.fromEntries(atWork.map(({ agent, events }) => [agent, events]))).toEqual(ofKilled);
    expect(json.agents.find(({ agent }) => agent === 'prefill-working')!.mayMissMs).toBe(10);
    expect(json.agents.map(({ life }) => life)).toEqual(new Array(8).fill('dead'));
    expect(new Set(json.agents.map(({ pid }) => pid)).size).toBe(names.length);
    const rows = json.agents.map(({ agent, tx, rx }) => {
      const [direction, { transfers, bytes }] = agent.startsWith('prefill') ? ['tx', tx] : ['rx', rx];
      return [agent, direction, numberText(transfers), bytesText(bytes)];
    });
    expect(rowsOfAgents(rowsOfText(text))).toEqual(rows);
    expect(rowsOfAgents(rowsOfHtml(html))).toEqual(rows);
    expect(text.replaceAll(/\s+/g, ' ')).toContain('ended without a rest: up to 10 ms before its end may be missing');
  });
});
