/** The addresses of the agents' figures and their history as JSON. */
import os from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { reasonOf } from '../../errors.js';
import type { CustomError } from '../../mapping/custom-events.js';
import { oneLine } from '../../one-line.js';
import { PACKAGE_VERSION } from '../../package.js';
import type { AgentSnapshot } from '../../tally.js';
import { type Peeks, Recorder, type Sample } from '../history/recorder.js';
import type { Handler, MetricsServer } from '../http/metrics-server.js';
import { TimeSlices } from '../../time-slices.js';
import { note, warnOnce } from '../process/output.js';
import type { FailingExporter } from '../verdict/types.js';
import { agentAnswer, type DetailSource } from './agent-detail.js';
import { AgentProcesses } from './agent-processes.js';
import { agentsAnswer, agentsSummary, MAX_LISTED_AGENTS } from './agents.js';
import { AGENTS_PATH, type ServeFacts } from './answer.js';
import { agentColumns, fleetAnswer } from './history.js';
import { type AgentColumns, HISTORY_PATH } from './history-answer.js';
import { questionIn, WrongQuestion } from './question.js';

const HEADERS = { 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' };

/** State of serve beside its rings. */
export interface ServeContext {
  readonly directories: readonly string[];
  readonly customErrors: readonly CustomError[];
  /** Variable with the local rank in the environment of agents. */
  readonly rankVariable: string;
  /** Returns the configured attributes of an agent's series. */
  readonly attributesOf: (agent: AgentSnapshot) => Readonly<Record<string, unknown>>;
  readonly failingExporters: () => readonly FailingExporter[];
}

/** Begins to record the history. Returns a function that ends it. */
export function publishAgents(server: MetricsServer, peeks: Peeks, context: ServeContext): () => void {
  const warn = warnOnce();
  const startedMs = performance.timeOrigin;
  const recorder = new Recorder({
    ...peeks,
    customErrors: context.customErrors,
    beganMs: startedMs,
    onFailure: (reason) => warn(`the history lacks a sample: ${reason}`),
  });
  const facts = {
    version: PACKAGE_VERSION,
    hostname: os.hostname(),
    directories: context.directories.map(oneLine),
    startedMs,
  };
  server.route(`/${AGENTS_PATH}`, agents(recorder, facts, context));
  server.route(`/${HISTORY_PATH}`, history(recorder, startedMs));
  return () => recorder.close();
}

/** Serves a sample and drains nothing: figures lag by a drain interval and the age of the sample. */
function agents(recorder: Recorder, facts: ServeFacts, context: ServeContext): Handler {
  const processes = new AgentProcesses(context.rankVariable);
  /** Texts of the answers that do not depend on the client. */
  const texts = new Map<string, Promise<string>>();
  let last: Sample | undefined;
  return answering(recorder, async (sample, query) => {
    const { agents: listed, agent, detail } = questionIn(query, ['agents', 'agent', 'detail']);
    if (sample !== last) texts.clear();
    last = sample;
    processes.refresh(sample.readings.map((reading) => reading.agent));
    const source: DetailSource = {
      facts,
      recorder,
      sample,
      failingExporters: context.failingExporters(),
      gpusOf: (id) => processes.of(id).gpus,
      processOf: (id) => processes.of(id),
      attributesOf: context.attributesOf,
    };
    if (agent !== undefined) return textOf(agentAnswer(source, agent));
    const mostAgents = listed === 'all' ? Infinity : MAX_LISTED_AGENTS;
    const key = `${mostAgents} ${detail}`;
    const make = async (): Promise<string> => {
      await setImmediate(); // the sample took its time already
      return textOf((detail === 'none' ? agentsSummary : agentsAnswer)(source, mostAgents));
    };
    const text = texts.get(key) ?? make();
    texts.set(key, text);
    return text;
  });
}

function history(recorder: Recorder, startedMs: number): Handler {
  return answering(recorder, async (sample, query) => {
    const { agents: listed, agent, from = 0 } = questionIn(query, ['agents', 'agent', 'from']);
    await setImmediate();
    const fleet = fleetAnswer(recorder, { fromMs: from, startedMs, takenMs: sample.snapshot.takenMs });
    const { timesMs, rows } = recorder.record.agents.after(from, agent);
    const isListed = listed === 'all' || agent !== undefined;
    return textOf({ ...fleet, agentTimesMs: isListed ? timesMs : [], agents: isListed ? columnsOf(rows) : [] });
  });
}

function* columnsOf(rows: ReadonlyMap<number, Float32Array>): Generator<AgentColumns> {
  for (const [id, row] of rows) yield agentColumns(id, row);
}

/** `text`: makes the answer. It may throw WrongQuestion. */
function answering(recorder: Recorder, text: (sample: Sample, query: string | undefined) => Promise<string>): Handler {
  return (request, answer) => {
    const sample = recorder.sample();
    if (sample === undefined) return answer(503, 'The rings are closed.');
    const send = async (): Promise<void> => {
      answer(200, await text(sample, request.url?.split('?', 2)[1]), 'application/json', HEADERS);
    };
    send().catch((error: unknown) => {
      if (error instanceof WrongQuestion) return answer(400, error.message);
      note(`${request.url} failed: ${reasonOf(error)}`, 'error');
      answer(500, 'This request failed.');
    });
  };
}

/** Makes JSON with a turn for other work after each two milliseconds. */
async function textOf<Answer extends { readonly agents: Iterable<object> }>(answer: Answer): Promise<string> {
  const { agents, ...rest } = answer;
  const slices = new TimeSlices();
  const texts: string[] = [];
  for (const agent of agents) {
    texts.push(JSON.stringify(agent));
    const pause = slices.turn();
    if (pause !== undefined) await pause;
  }
  return `${JSON.stringify(rest).slice(0, -1)},"agents":[${texts.join()}]}`;
}
