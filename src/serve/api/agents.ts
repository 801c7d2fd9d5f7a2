/** Makes the answers of /api/v1/agents from a sample. Pure. */
import { atScale, type ExponentialTally, TALLY_SCALE } from '../../ground/exponential.js';
import { oneLine } from '../../ground/one-line.js';
import type { Recorder, HistorySample } from '../history/recorder.js';
import { collectorLateMs } from '../http/health.js';
import type { SlownessJudge } from '../../view/slowness/slowness-judge.js';
import type { Incident } from '../../view/incidents/incident.js';
import type { WayWatch } from '../way/way-watch.js';
import type { FailingExporter, Maintenance } from '../../view/verdict/types.js';
import { type AgentData, type AgentsAnswer, API, type ServeFacts } from '../../view/answers/answer.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import { fold } from './others.js';

/** Further agents are summed up, so that an answer stays below a megabyte. */
export const MAX_LISTED_AGENTS = 256;
const MAX_LISTED_PROBLEMS = 50;
/** Sizes are usually powers of two: one bucket for each is enough. */
const SIZE_SCALE = 0;

export interface AnswerSource {
  readonly facts: ServeFacts;
  readonly recorder: Pick<Recorder, 'statuses' | 'record'>;
  readonly sample: HistorySample;
  readonly failingExporters: readonly FailingExporter[];
  readonly judge: Pick<SlownessJudge, 'facts' | 'unjudged'>;
  readonly lastTrouble?: Incident | undefined;
  readonly maintenance?: readonly Maintenance[];
  /** Percentiles of the last seconds; default: those of the recorder. */
  readonly recent?: Pick<Recorder['record']['recent'], 'of' | 'ofAll'>;
  readonly engineOf: (agent: ServedAgent) => ServedAgent['engine'];
  readonly ways: Pick<WayWatch, 'of' | 'ports'>;
  /** Returns the GPUs of the agent's process, as CUDA_VISIBLE_DEVICES has them. */
  readonly gpusOf: (id: number) => string | undefined;
}

/** Returns the data of exported agents, as at /metrics, with their histograms. */
export function agentsAnswer(source: AnswerSource, mostAgents = MAX_LISTED_AGENTS): AgentsAnswer {
  const agents = source.sample.agents.map((agent) => agentData(agent, source));
  return answerOf(source, fold(agents, mostAgents));
}

/** Returns the same without the histograms. */
export function agentsSummary(source: AnswerSource, mostAgents = MAX_LISTED_AGENTS): AgentsAnswer<ServedAgent> {
  const agents = source.sample.agents.map((agent) => agentSummary(agent, source));
  return answerOf(source, fold(agents, mostAgents));
}

export function answerOf<Agent extends ServedAgent>(
  source: AnswerSource,
  { agents, folded }: Pick<AgentsAnswer<Agent>, 'agents' | 'folded'>,
): AgentsAnswer<Agent> {
  const { facts, recorder, sample, failingExporters, judge, lastTrouble, maintenance = [], ways } = source;
  const { recent = recorder.record.recent } = source;
  const { takenMs, problems, problemCount, stateProblems, collector } = sample.snapshot;
  const { ends } = recorder.record;
  const lateMs = collectorLateMs(collector);
  return {
    api: API,
    ...facts,
    takenMs,
    errorStatuses: recorder.statuses.names,
    agents,
    folded,
    problems: problems
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ path, state, reason }) => ({ path: oneLine(path), state, reason: oneLine(reason) })),
    problemCount,
    ended: ends.ended,
    stateProblems: stateProblems
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ path, reason }) => ({ path: oneLine(path), reason: oneLine(reason) })),
    stateProblemCount: stateProblems.length,
    failingExporters,
    slowness: judge.facts,
    unjudged: judge.unjudged,
    ports: ways.ports,
    ...(lastTrouble === undefined ? {} : { lastTrouble }),
    ...(maintenance.length === 0 ? {} : { maintenance }),
    collector: {
      drainIntervalMs: collector.drainIntervalMs,
      sinceTickMs: Math.round(collector.sinceTickMs),
      ...(lateMs === undefined ? {} : { lateMs }),
    },
    recentTransferTimeUs: recent.ofAll(sample.agents, 'transferTimesUs'),
    recentPostTimeUs: recent.ofAll(sample.agents, 'postTimesUs'),
  };
}

/** Adds what the recording knows of an agent, without histograms. */
function agentSummary(agent: ServedAgent, source: AnswerSource): ServedAgent {
  const { recorder, sample, engineOf, ways, gpusOf, recent = recorder.record.recent } = source;
  const { ends, quiet, memory, troubles } = recorder.record;
  const { id, lastEventMs, startTimeMs } = agent;
  return {
    ...agent,
    lastEventMs: undefined,
    idleMs: Math.max(0, Math.round(sample.snapshot.takenMs - (lastEventMs ?? startTimeMs))),
    memoryGrowth: memory.growth(id),
    quietSinceMs: quiet.sinceMs(id),
    failedMs: troubles.failedMs(id),
    endedMs: ends.endedMs(id),
    troubles: sample.troubles.get(id) ?? {},
    recentTransferTimeUs: recent.of(agent, 'transferTimesUs'),
    recentPostTimeUs: recent.of(agent, 'postTimesUs'),
    engine: engineOf(agent),
    way: ways.of(id),
    gpus: gpusOf(id),
    transferTimesUs: undefined,
    postTimesUs: undefined,
    txSizes: undefined,
    rxSizes: undefined,
  };
}

export function agentData(agent: ServedAgent, source: AnswerSource): AgentData {
  return {
    ...agentSummary(agent, source),
    transferTimesUs: compact(agent.transferTimesUs),
    postTimesUs: compact(agent.postTimesUs),
    txSizes: compact(agent.txSizes && atScale(agent.txSizes, SIZE_SCALE)),
    rxSizes: compact(agent.rxSizes && atScale(agent.rxSizes, SIZE_SCALE)),
  };
}

const NO_VALUES: ExponentialTally = { scale: TALLY_SCALE, zeroCount: 0, offset: 0, counts: [] };

/** JSON has no typed arrays. */
function compact({ counts, ...rest }: ExponentialTally = NO_VALUES): ExponentialTally {
  return { ...rest, counts: Array.from(counts) };
}
