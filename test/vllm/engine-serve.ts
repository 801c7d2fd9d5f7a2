/** A serve beside engines, and what it says of them. */
import { readFileSync } from 'node:fs';
import { run, type RunningCommand, scrape, start } from '../cli/command.js';
import { samplesOf } from '../support/page.js';
import { type AgentsAnswer } from '../../src/view/answers/answer.js';
import type { DoctorFinding } from '../../src/view/answers/doctor-finding.js';
import type { IncidentsAnswer } from '../../src/view/answers/incidents-answer.js';
import { verdictInput } from '../../src/view/answers/verdict-input.js';
import type { Incident } from '../../src/view/incidents/incident.js';
import type { ServedAgent } from '../../src/view/model/agent-model.js';
import type { Finding } from '../../src/view/verdict/types.js';
import { verdictOf } from '../../src/view/verdict/verdict.js';

export class EngineServe {
  readonly #directory: string;
  readonly #command: RunningCommand;
  #url = '';

  static async start(directory: string): Promise<EngineServe> {
    const serve = new EngineServe(directory);
    [, serve.#url] = (await serve.#command.says(/serves (http:\S+)\/metrics/)) as unknown as [string, string];
    return serve;
  }

  private constructor(directory: string) {
    this.#directory = directory;
    this.#command = start(['serve', '--dir', directory, '--port', '0']);
  }

  page(): Promise<string> {
    return scrape(`${this.#url}/metrics`);
  }

  /** Agents by their names for people. */
  async agents(): Promise<Map<string, ServedAgent>> {
    const { agents } = await this.#answer();
    return new Map(agents.map((agent) => [agent.engine?.label ?? agent.name, agent]));
  }

  /** What the page says, in its words. */
  async findings(): Promise<readonly Finding[]> {
    return verdictOf(verdictInput(await this.#answer(), { name: this.#url })).findings;
  }

  async incidents(): Promise<readonly Incident[]> {
    return (await this.#get<IncidentsAnswer>('api/v1/incidents')).incidents;
  }

  /** Labels of the metric that joins agents with their engines. */
  async infos(): Promise<Record<string, string>[]> {
    return samplesOf(await this.page()).flatMap(({ name, labels }) => (name === 'nixl_agent_info' ? [labels] : []));
  }

  /** What doctor finds about its directory and itself, and about processes of these groups: other agents of the host may be unwell. */
  async diagnosis(groups: readonly number[]): Promise<readonly DoctorFinding[]> {
    const subjects = [
      ['--dir', this.#directory],
      ['--url', this.#url],
    ];
    const all = await Promise.all(subjects.map((flags) => run(['doctor', '--json', ...flags])));
    const lines = all.flatMap(({ stdout }) => stdout.split('\n').filter((line) => line !== ''));
    return lines
      .map((line) => JSON.parse(line) as DoctorFinding)
      .filter(({ subject }) => {
        const [, pid] = /^process (\d+)/.exec(subject) ?? [];
        return pid === undefined || groups.includes(groupOf(pid));
      });
  }

  /** What doctor finds about an engine's own page beside the rings. @throws if it takes a difference for none, or the reverse */
  async beside(engineUrl: string): Promise<readonly DoctorFinding[]> {
    const { code, stdout } = await run(['doctor', '--json', '--engine', engineUrl, '--url', this.#url]);
    const findings = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as DoctorFinding]));
    const isUnequal = findings.some(({ status }) => status === 'problem');
    if (code !== (isUnequal ? 1 : 0)) throw new Error(`exit code ${code}: ${stdout}`);
    return findings;
  }

  /** The table of its rings. */
  async list(): Promise<string> {
    return (await run(['list', '--dir', this.#directory])).stdout;
  }

  get log(): string {
    return this.#command.stderr;
  }

  async end(): Promise<number | null> {
    return (await this.#command.stop('SIGTERM')).code;
  }

  #answer(): Promise<AgentsAnswer<ServedAgent>> {
    return this.#get('api/v1/agents?agents=all&detail=none');
  }

  async #get<T>(path: string): Promise<T> {
    return JSON.parse(await scrape(`${this.#url}/${path}`)) as T;
  }
}

/** Process group; 0 of a process that has ended. */
function groupOf(pid: string): number {
  try {
    return Number(/\) \S \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}
