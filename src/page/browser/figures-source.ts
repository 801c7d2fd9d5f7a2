/** The figures that the page has: the newest answers of serve, what they say of each agent, and the verdict. */
import { type AgentDetail, AGENTS_PATH, type AgentsAnswer } from '../../view/answers/answer.js';
import { INCIDENTS_PATH, type IncidentsAnswer } from '../../view/answers/incidents-answer.js';
import type { Incident } from '../../view/incidents/incident.js';
import { HISTORY_PATH, type HistoryAnswer } from '../../view/answers/history-answer.js';
import { verdictInput } from '../../view/answers/verdict-input.js';
import { Interval } from '../../view/figures/rates.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import { SlowFlushes } from '../../view/figures/slow-flushes.js';
import type { Verdict } from '../../view/verdict/types.js';
import { verdictOf } from '../../view/verdict/verdict.js';
import { type TableRow, rowsOf } from './agents/rows.js';
import { extended } from './common/history.js';
import { fetchJson } from './poll.js';

export type FiguresAnswer = AgentsAnswer<ServedAgent>;

/** Time behind a rate: agents flush every 100 ms, so that a single second has one flush more or less. */
const RATE_MS = 3000;

/** serve judges a sample each four seconds. */
const INCIDENTS_EVERY_MS = 4000;

interface Loaded {
  readonly answer: FiguresAnswer;
  readonly points: HistoryAnswer;
  readonly detail: AgentsAnswer<AgentDetail> | undefined;
  /** Absent if the last ones are new enough. */
  readonly incidents: IncidentsAnswer | undefined;
}

export class FiguresSource {
  #answers: FiguresAnswer[] = [];
  #history: HistoryAnswer | undefined;
  #detail: AgentDetail | undefined;
  #incidents: readonly Incident[] = [];
  #askedMs = -Infinity;
  readonly #flushes = new SlowFlushes<ServedAgent>();
  #slow: ReturnType<SlowFlushes<ServedAgent>['take']> = new Map();

  get answer(): FiguresAnswer | undefined {
    return this.#answers.at(-1);
  }

  get history(): HistoryAnswer | undefined {
    return this.#history;
  }

  /** Newest first. */
  get incidents(): readonly Incident[] {
    return this.#incidents;
  }

  /** Returns what is known of the agent with this name, besides the answer of all. */
  detailOf(name: string): AgentDetail | undefined {
    return this.#detail?.name === name ? this.#detail : undefined;
  }

  agent(name: string): ServedAgent | undefined {
    return this.answer?.agents.find((agent) => agent.name === name);
  }

  /** Asks for the figures of all agents, and for all of one. */
  async load(name: string | undefined, signal: AbortSignal): Promise<Loaded> {
    const id = name === undefined ? undefined : this.agent(name)?.id;
    const from = this.#history === undefined ? '' : `&from=${this.#history.takenMs}`;
    const wantsIncidents = performance.now() - this.#askedMs >= INCIDENTS_EVERY_MS;
    const [answer, newer, detail, incidents] = await Promise.all([
      fetchJson<FiguresAnswer>(`${AGENTS_PATH}?agents=all&detail=none`, signal),
      fetchJson<HistoryAnswer>(`${HISTORY_PATH}?agents=all${from}`, signal),
      id === undefined ? undefined : fetchJson<AgentsAnswer<AgentDetail>>(`${AGENTS_PATH}?agent=${id}`, signal),
      wantsIncidents ? fetchJson<IncidentsAnswer>(INCIDENTS_PATH, signal) : undefined,
    ]);
    if (wantsIncidents) this.#askedMs = performance.now();
    // Another process has other ids, and may have kept what this page had.
    const isOther = this.#history !== undefined && newer.startedMs !== this.#history.startedMs;
    const points = isOther ? await fetchJson<HistoryAnswer>(`${HISTORY_PATH}?agents=all`, signal) : newer;
    return { answer, points, detail, incidents };
  }

  add({ answer, points, detail, incidents }: Loaded): void {
    const before = this.answer;
    if (before !== undefined && (before.startedMs !== answer.startedMs || before.takenMs > answer.takenMs)) {
      this.#answers = [];
      this.#history = undefined;
    }
    // Answers of the same time are the same.
    if (this.answer?.takenMs !== answer.takenMs) {
      this.#answers.push(answer);
      this.#slow = this.#flushes.take(answer);
    }
    const base = this.#answers.findLastIndex(({ takenMs }) => takenMs <= answer.takenMs - RATE_MS);
    this.#answers.splice(0, Math.max(0, base));
    this.#history = extended(this.#history, points);
    this.#detail = detail?.agents[0];
    this.#incidents = incidents?.incidents ?? this.#incidents;
  }

  /** Returns the rows of the table, with the rates of the last seconds. */
  rows({ states }: Verdict): TableRow[] {
    const { answer } = this;
    if (answer === undefined) return [];
    const before = this.#answers.length > 1 ? this.#answers[0] : undefined;
    const columns = new Map(this.#history?.agents.map((agent) => [agent.id, agent]));
    return rowsOf(answer.agents, new Interval(before, answer, undefined, this.#slow), states, columns);
  }

  /** `stale`: time without an answer, and the reason. */
  verdict(answer: FiguresAnswer, stale: { readonly forMs: number; readonly reason: string } | undefined): Verdict {
    return verdictOf(verdictInput(answer, { name: location.host, ...(stale === undefined ? {} : { stale }) }));
  }
}
