/** The addresses of the agents' figures, their history, their time by size and what happened as JSON. */
import type { IdentifiedAgent } from '../../instrumentation/agents/agent-identities.js';
import { setImmediate } from 'node:timers/promises';
import { reasonOf } from '../../ground/errors.js';
import type { CustomError } from '../../mapping/custom-events.js';
import type { WayWords } from '../../mapping/naming.js';
import { oneLine } from '../../ground/one-line.js';
import { PACKAGE_VERSION } from '../../ground/package.js';
import type { AgentSnapshot } from '../../ground/tally.js';
import { type Peeks, Recorder, type HistorySample } from '../history/recorder.js';
import type { ChangeHandler, Handler, Routes } from '../http/metrics-server.js';
import { TimeSlices } from '../../ground/time-slices.js';
import { note, warnOnce } from '../../process/output.js';
import type { FailingExporter } from '../../view/verdict/types.js';
import { acceptance } from './acceptance.js';
import { agentAnswer, type DetailSource } from './agent-detail.js';
import { AgentProcesses } from './agent-processes.js';
import { agentsAnswer, agentsSummary, type AnswerSource, MAX_LISTED_AGENTS } from './agents.js';
import type { SizeWatch } from '../../instrumentation/sizes/size-watch.js';
import type { FindingCount } from '../../instrumentation/serve-state.js';
import { ACCEPT_PATH, AGENTS_PATH, API, MAINTENANCE_PATH, type ServeFacts } from '../../view/answers/answer.js';
import { INCIDENTS_PATH } from '../../view/answers/incidents-answer.js';
import { SIZES_PATH } from '../../view/answers/sizes-answer.js';
import { agentColumns, fleetAnswer } from './history.js';
import { HistoryFile } from './history-file.js';
import { type AgentColumns, HISTORY_PATH } from '../../view/answers/history-answer.js';
import { type Question, questionIn, WrongQuestion } from './question.js';
import { AllGone, SampleAnswers } from './sample-answers.js';
import { ServeIncidents } from './incidents.js';
import { MaintenanceLog, WrongAnnouncement } from './maintenance.js';
import { sizesAnswer } from './sizes.js';
import type { OnIncidentChanges } from '../incidents/incident-watch.js';
import { UsualFile } from '../slowness/usual-file.js';
import { StatePlace } from '../state/state-place.js';
import { WayWatch } from '../way/way-watch.js';

/** Paths of the server that have the answers. */
export const API_PATHS: readonly string[] = [AGENTS_PATH, HISTORY_PATH, SIZES_PATH, INCIDENTS_PATH].map(
  (path) => `/${path}`,
);

const HEADERS = { 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' };

/** State of serve beside its rings. */
export interface ServeContext {
  /** Value of the label `hostname`. */
  readonly hostname: string;
  readonly directories: readonly string[];
  readonly globs: readonly string[];
  readonly customErrors: readonly CustomError[];
  /** Variable with the local rank in the environment of agents. */
  readonly rankVariable: string;
  /** Returns the configured attributes of an agent's series. */
  readonly attributesOf: (agent: AgentSnapshot) => Readonly<Record<string, unknown>>;
  readonly engineOf: (agent: IdentifiedAgent) => ReturnType<AnswerSource['engineOf']>;
  /** Reads the engines of all agents in slices, once. */
  readonly identify: (agents: readonly IdentifiedAgent[], slices: TimeSlices) => Promise<void>;
  /** The host's /sys, as this process sees it. */
  readonly sysPath: string;
  readonly endedKeptMs: number;
  /** Time after which transfers that became slower count as usual. */
  readonly acceptMs: number;
  readonly failingExporters: () => readonly FailingExporter[];
  readonly sizes: Pick<SizeWatch, 'read' | 'judge' | 'groupOf'>;
  /** Takes the function that counts what is found now. */
  readonly showFindings: (counts: () => readonly FindingCount[]) => void;
  /** Takes the function that returns the steady ways of an agent. */
  readonly showWays: (waysOf: (id: number) => WayWords | undefined) => void;
  /** True if state is kept beside the rings. */
  readonly keepsState: boolean;
  /** Takes what begins and ends, if it is sent. */
  readonly onIncidents?: OnIncidentChanges | undefined;
}

/** Begins to record the history. Returns a function that ends it. */
export function publishAgents(server: Routes, peeks: Peeks, context: ServeContext): () => void {
  const warn = warnOnce();
  const startedMs = performance.timeOrigin;
  context.sizes.judge.acceptMs = context.acceptMs;
  context.sizes.groupOf = (agent) => {
    const { engine, instancePid, part = '' } = context.engineOf(agent) ?? {};
    return engine === undefined ? undefined : `${instancePid ?? engine} ${part}`;
  };
  const place = context.keepsState ? new StatePlace() : undefined;
  const usual = place && new UsualFile(place, context.sizes.judge);
  const past = place && new HistoryFile(place, () => recorder);
  const ways = new WayWatch(context.sysPath);
  context.showWays((id) => ways.steady.of(id));
  const recorder = new Recorder({
    ...peeks,
    customErrors: context.customErrors,
    beganMs: startedMs,
    endedKeptMs: context.endedKeptMs,
    onFailure: (reason) => warn(`the history lacks a sample: ${reason}`),
    onRecorded: (sample) => {
      place?.take(sample);
      past?.take(sample);
      usual?.take(Math.floor(sample.snapshot.takenMs));
      ways.take(Math.floor(sample.snapshot.takenMs), sample.agents);
      incidents.take(sample);
    },
  });
  const facts = {
    version: PACKAGE_VERSION,
    hostname: oneLine(context.hostname),
    directories: context.directories.map(oneLine),
    globs: context.globs.map(oneLine),
    startedMs,
  };
  const maintenance = new MaintenanceLog(place);
  const incidents = new ServeIncidents(place, context.onIncidents, (sample) => ({
    ...{ facts, recorder, sample, failingExporters: context.failingExporters() },
    ...{ judge: context.sizes.judge, maintenance: maintenance.at(Date.now()) },
    ...{ engineOf: context.engineOf, gpusOf: () => undefined },
    ways,
  }));
  context.showFindings(() => incidents.findings);
  const answers = new SampleAnswers();
  server.route(`/${AGENTS_PATH}`, agents(recorder, answers, facts, context, incidents, maintenance, ways));
  server.change(`/${MAINTENANCE_PATH}`, announcement(maintenance));
  server.change(
    `/${ACCEPT_PATH}`,
    acceptance(context.sizes.judge, () => usual?.write(Date.now())),
  );
  server.route(`/${HISTORY_PATH}`, history(recorder, answers, startedMs));
  server.route(`/${SIZES_PATH}`, sizes(recorder, answers, facts, context, ways));
  server.route(`/${INCIDENTS_PATH}`, (_, answer) => {
    answer(200, `${JSON.stringify(incidents.answer(facts))}\n`, 'application/json', HEADERS);
  });
  return () => {
    recorder.close();
    incidents.close();
    usual?.write(Date.now());
    past?.write();
  };
}

/** Serves a sample and drains nothing: figures lag by a drain interval and the age of the sample. */
function agents(
  recorder: Recorder,
  answers: SampleAnswers,
  facts: ServeFacts,
  context: ServeContext,
  incidents: ServeIncidents,
  maintenance: MaintenanceLog,
  ways: WayWatch,
): Handler {
  const processes = new AgentProcesses(context.rankVariable);
  return answering(
    recorder,
    answers,
    ['agents', 'agent', 'detail'],
    async (sample, { agents: listed, agent, detail }) => {
      processes.refresh(sample.agents);
      await context.identify(sample.agents, new TimeSlices());
      const source: DetailSource = {
        facts,
        recorder,
        sample,
        failingExporters: context.failingExporters(),
        judge: context.sizes.judge,
        lastTrouble: incidents.lastTrouble,
        maintenance: maintenance.at(Date.now()),
        engineOf: context.engineOf,
        ways,
        gpusOf: (id) => processes.of(id).gpus,
        processOf: (id) => processes.of(id),
        attributesOf: context.attributesOf,
      };
      if (agent !== undefined) return textOf(agentAnswer(source, agent));
      const mostAgents = listed === 'all' ? Infinity : MAX_LISTED_AGENTS;
      return textOf((detail === 'none' ? agentsSummary : agentsAnswer)(source, mostAgents));
    },
  );
}

function announcement(maintenance: MaintenanceLog): ChangeHandler {
  return (body) => {
    try {
      const all = maintenance.take(body, Date.now());
      return { status: 200, text: JSON.stringify({ api: API, maintenance: all }), type: 'application/json' };
    } catch (error) {
      if (error instanceof WrongAnnouncement) return { status: 400, text: error.message };
      throw error;
    }
  };
}

function history(recorder: Recorder, answers: SampleAnswers, startedMs: number): Handler {
  return answering(
    recorder,
    answers,
    ['agents', 'agent', 'from'],
    async (sample, { agents: listed, agent, from = 0 }) => {
      const fleet = fleetAnswer(recorder, { fromMs: from, startedMs, takenMs: sample.snapshot.takenMs });
      const { timesMs, rows } = recorder.record.agents.after(from, agent);
      const isListed = listed === 'all' || agent !== undefined;
      return textOf({ ...fleet, agentTimesMs: isListed ? timesMs : [], agents: isListed ? columnsOf(rows) : [] });
    },
  );
}

function sizes(
  recorder: Recorder,
  answers: SampleAnswers,
  facts: ServeFacts,
  { sizes }: ServeContext,
  ways: WayWatch,
): Handler {
  return answering(recorder, answers, ['agents', 'agent'], async (_, question) => {
    const answer = await sizes.read((reading, slices) => sizesAnswer(reading, facts, question, slices, ways));
    if (answer === undefined) throw new Error('the rings are closed');
    return textOf(answer);
  });
}

function* columnsOf(rows: ReadonlyMap<number, Float32Array>): Generator<AgentColumns> {
  for (const [id, row] of rows) yield agentColumns(id, row);
}

/** `names`: parameters of the question. */
function answering(
  recorder: Recorder,
  answers: SampleAnswers,
  names: readonly (keyof Question)[],
  make: (sample: HistorySample, question: Question) => Promise<string>,
): Handler {
  return (request, answer, room) => {
    const sample = recorder.sample();
    if (sample === undefined) return answer(503, 'The rings are closed.');
    const send = async (): Promise<void> => {
      const question = questionIn(request.url?.split('?', 2)[1], names);
      const bytes = await answers.of(sample, JSON.stringify([names, question]), request.socket, async () => {
        await setImmediate(); // the sample took its time already
        await room();
        return make(sample, question);
      });
      answer(200, bytes, 'application/json', HEADERS);
    };
    send().catch((error: unknown) => {
      if (error instanceof WrongQuestion) return answer(400, error.message);
      if (!(error instanceof AllGone)) note(`${request.url} failed: ${reasonOf(error)}`, 'error');
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
